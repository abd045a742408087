// Builds the two worked examples that are committed as modules: those of
// AssemblyScript and C. That of Go is too large, and built by the tests. And builds
// the module of a test of the SDK for C.
//
//     node build.mjs           writes <language>/todo-scan.wasm and ../c/testdata/previous.wasm
//     node build.mjs --check   fails if a committed module is stale
//
// The compilers are pinned, so the same sources give the same bytes on every
// machine. For C that is the Clang that runs in Node, whichever else is installed.

import { execSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";

const CHECK = process.argv.includes("--check");

/** ABI v1: these exports, and not a single import. */
const EXPORTS = ["memory", "switchyard_abi_v1", "sy_alloc", "sy_describe", "sy_normalize"];

for (const [language, module, build] of [
  ["assemblyscript", "todo-scan.wasm", "npm ci --no-audit --no-fund && npm run build"],
  ["c", "todo-scan.wasm", "npm ci --no-audit --no-fund && npm run build"],
  ["c", "../../c/testdata/previous.wasm", "node build.mjs ../../c/testdata/previous.c ../../c/testdata/previous.wasm"],
]) {
  const folder = new URL(`${language}/`, import.meta.url);
  const file = new URL(module, folder);
  const committed = await readFile(file).catch(() => Buffer.alloc(0));
  execSync(build, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const built = await readFile(file);
  if (CHECK && !built.equals(committed)) {
    await writeFile(file, committed);
    throw new Error(`${language}/${module} is stale: run node build.mjs`);
  }
  const compiled = new WebAssembly.Module(built);
  const imports = WebAssembly.Module.imports(compiled).map((i) => `${i.module}.${i.name}`);
  const exports = WebAssembly.Module.exports(compiled).map((e) => e.name).sort();
  if (imports.length) throw new Error(`${language}: imports ${imports.join(", ")}`);
  if (exports.join() !== EXPORTS.join()) throw new Error(`${language}: exports ${exports.join(", ")}`);
  console.log(`${language}/${module}: ${built.length} bytes`);
}
