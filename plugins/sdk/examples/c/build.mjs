// Builds the plugin where no Clang is installed, with one that runs in Node. It
// takes the same flags as make.

import { readFile, writeFile } from "node:fs/promises";
import { Exit, runClang, runLLVM } from "@yowasp/clang";

const [SOURCE = "guest.c", MODULE = "todo-scan.wasm"] = process.argv.slice(2);
const flags = (await readFile("compile_flags.txt", "utf8")).trim().split("\n");
const sources = {
  "guest.c": await readFile(SOURCE, "utf8"),
  "switchyard.h": await readFile("../../c/switchyard.h", "utf8"),
};
const show = (bytes) => bytes && process.stderr.write(bytes);

await runLLVM(null, {}, { fetchProgress() {} }); // Loads the compiler, without a word about how far it is.
try {
  const files = await runClang(["clang", ...flags, "-I.", "-o", "guest.wasm", "guest.c"], sources, { stdout: show, stderr: show });
  await writeFile(MODULE, files["guest.wasm"]);
} catch (error) {
  if (!(error instanceof Exit)) throw error;
  process.exitCode = 1; // The compiler has said why.
}
