// Builds the guests that ship inside the switchyard binary, and those that
// attack it in its tests.
//
//     node build.mjs            writes <name>/<name>.wasm and <name>/describe.json
//     node build.mjs NAME ...   does so for these guests alone; "hostile" is those of the tests
//     node build.mjs --check    writes nothing; fails if a committed file is stale
//
// The compiler is pinned and the result depends on nothing else, so the same
// sources give the same bytes on every machine.

import { access, readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import binaryen from "binaryen";

const CHECK = process.argv.includes("--check");
const NAMED = process.argv.slice(2).filter((arg) => !arg.startsWith("-"));

/** Every directory with a guest.ts is a guest. */
async function guests() {
  if (NAMED.length == 1 && NAMED[0] == "hostile") return [];
  const names = [];
  for (const entry of await readdir(new URL(".", import.meta.url), { withFileTypes: true })) {
    if (!entry.isDirectory() || NAMED.length && !NAMED.includes(entry.name)) continue;
    if (await access(new URL(`${entry.name}/guest.ts`, import.meta.url)).then(() => true, () => false)) names.push(entry.name);
  }
  if (!names.length || names.length < NAMED.length) throw new Error(`no such guests: ${NAMED.join(", ")}`);
  return names.sort();
}

/** ABI v1: these exports, and not a single import. */
const EXPORTS = ["memory", "switchyard_abi_v1", "sy_alloc", "sy_describe", "sy_normalize"];

/** A guest's size is its start-up cost: the host decodes it on every run. */
const SIZE_LIMIT = 32 * 1024;

/** Import paths of the sources are relative to this, so that they can reach the SDK. */
const PLUGINS = fileURLToPath(new URL("..", import.meta.url));

async function compile(name) {
  let binary;
  const { error, stderr } = await asc.main(
    [
      `builtin/${name}/guest.ts`,
      "--baseDir", PLUGINS,
      "--outFile", `${name}.wasm`,
      "--runtime", "stub",
      "--use", "abort=sdk/assemblyscript/abi/trap",
      "--enable", "simd",
      "-O3", "--shrinkLevel", "1", "--converge", "--noAssert",
      "--pedantic",
    ],
    { writeFile: (_, contents) => { binary = contents; } },
  );
  if (error) throw new Error(`${name}: ${error.message}\n${stderr}`);
  process.stderr.write(stderr.toString());
  return Buffer.from(binary);
}

/** Checks a module against the ABI and returns its description. */
async function describe(name, binary) {
  const module = await WebAssembly.compile(binary);
  const imports = WebAssembly.Module.imports(module).map((i) => `${i.module}.${i.name}`);
  if (imports.length) throw new Error(`${name}: imports ${imports.join(", ")}`);
  const exports = WebAssembly.Module.exports(module).map((e) => e.name).sort();
  if (exports.join() !== EXPORTS.join()) throw new Error(`${name}: exports ${exports.join(", ")}`);
  if (binary.length > SIZE_LIMIT) throw new Error(`${name}: ${binary.length} bytes, over ${SIZE_LIMIT}`);

  const guest = (await WebAssembly.instantiate(module)).exports;
  const packed = BigInt.asUintN(64, guest.sy_describe());
  const bytes = Buffer.from(guest.memory.buffer, Number(packed >> 32n), Number(packed & 0xffffffffn));
  const description = JSON.parse(bytes.toString());
  if (description.name !== name) throw new Error(`${name}: describes itself as ${description.name}`);
  return Buffer.from(bytes);
}

/** Writes a file, or in check mode compares it with what would be written. */
async function put(path, contents) {
  const url = new URL(path, import.meta.url);
  if (!CHECK) return writeFile(url, contents);
  const committed = await readFile(url).catch(() => Buffer.alloc(0));
  if (!committed.equals(contents)) throw new Error(`${path} is stale: run npm run build`);
}

for (const name of await guests()) {
  const binary = await compile(name);
  const description = await describe(name, binary);
  await put(`${name}/${name}.wasm`, binary);
  await put(`${name}/describe.json`, description);
  console.log(`${name}: ${binary.length} bytes`);
}

if (NAMED.length && !NAMED.includes("hostile")) process.exit();

/** The guests that attack the host in its tests, each a page of text format. */
const HOSTILE = "../testdata/hostile/";
const hostile = (await readdir(new URL(HOSTILE, import.meta.url))).filter((file) => file.endsWith(".wat"));
if (!hostile.length) throw new Error("no hostile guests");
for (const file of hostile) {
  const text = await readFile(new URL(HOSTILE + file, import.meta.url), "utf8");
  const module = binaryen.parseText(text);
  if (/\(memory\.(fill|copy)/.test(text)) module.setFeatures(binaryen.Features.BulkMemory | binaryen.Features.BulkMemoryOpt);
  if (text.includes("(table.")) module.setFeatures(binaryen.Features.ReferenceTypes | binaryen.Features.BulkMemory);
  if (!module.validate()) throw new Error(`${file}: invalid`);
  await put(HOSTILE + file.replace(/wat$/, "wasm"), Buffer.from(module.emitBinary()));
}
console.log(`${hostile.length} hostile guests`);
