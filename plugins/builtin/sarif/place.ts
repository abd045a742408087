/**
 * Where a result is: its first location counts.
 */

import {
  Elements, Members, Value, countOf, find, firstOf, isAbsent, isObject, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { alloc } from "../../sdk/assemblyscript/memory";
import { refuse } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { readBases, writeBase } from "./bases";
import { optionalArray, optionalIndex, optionalObject, optionalString } from "./shape";
import { isRelative, writePath } from "./uri";

const member = changetype<Members>(memory.data(offsetof<Members>()));
const artifact = changetype<Elements>(memory.data(offsetof<Elements>()));

/** The artifacts of the run, and the location of each; built when they are first asked for. */
let artifacts: Value = 0;
let table: usize = 0;
let count: i32 = 0;

/** The URI of the file, its base id, and the line that {@link readPlace} found last; 0 where there is none. */
let uri: Value = 0;
let base: Value = 0;
export let line: Value = 0;

/** Takes the artifacts and the bases of a run in place of the last run's. */
export function readArtifacts(list: Value, originalUriBaseIds: Value): void {
  artifacts = optionalArray(list, "artifacts");
  table = 0;
  readBases(originalUriBaseIds);
}

/** Reads the first of a result's locations, or fails. */
export function readPlace(locations: Value): void {
  uri = 0;
  base = 0;
  line = 0;
  const location = optionalObject(firstOf(optionalArray(locations, "locations")), "location");
  const place = optionalObject(find(location, "physicalLocation"), "physicalLocation");
  if (!place) return;
  let file: Value = 0;
  let region: Value = 0;
  for (member.of(place); member.next(); ) {
    if (member.is("artifactLocation")) file = member.value;
    else if (member.is("region")) region = member.value;
    if (file && region) break; // what follows may be large
  }
  const index = readLocation(optionalObject(file, "artifactLocation"));
  const position = optionalIndex(index, "index");
  if (!uri && position >= 0) {
    base = 0;
    if (isArtifact(position)) readLocation(locationOf(position));
    else refuse("sarif-invalid", "", "index", "one of an artifact", index);
  }
  line = lineOf(optionalObject(region, "region"));
}

/** Reads an artifactLocation, which may be missing, and returns the index of its artifact. */
function readLocation(location: Value): Value {
  let index: Value = 0;
  if (!location) return index;
  for (member.of(location); member.next(); ) {
    if (member.is("uri")) uri = optionalString(member.value, "uri");
    else if (member.is("uriBaseId")) base = optionalString(member.value, "uriBaseId");
    else if (member.is("index")) index = member.value;
  }
  return index;
}

function isArtifact(index: i32): bool {
  if (!table) {
    count = countOf(artifacts);
    table = alloc(<usize>count << 2);
    if (artifacts) {
      for (artifact.of(artifacts); artifact.next(); ) {
        // An artifact may hold a whole file, so it is searched once. What is no object is refused where it is used.
        const value = artifact.value;
        store<u32>(table + (<usize>artifact.index << 2), isObject(value) ? find(value, "location") : value);
      }
    }
  }
  return index < count;
}

/** The location of an artifact; 0 if it has none, as one within another may. */
function locationOf(index: i32): Value {
  return optionalObject(load<u32>(table + (<usize>index << 2)), "an artifact and its location");
}

/** The line; 0 where there is none, for which staticcheck writes 0, although SARIF has no such line. */
function lineOf(region: Value): Value {
  const startLine = find(region, "startLine");
  if (isAbsent(startLine)) return 0;
  const number = wholeNumber(startLine);
  if (number < 0) {
    refuse("sarif-invalid-line", "", "startLine", "a whole number from 0 to 2147483647 in plain digits", startLine);
  }
  return number > 0 ? startLine : 0;
}

/** Appends the file as a JSON string, or null. */
export function writeFile(out: Writer): void {
  if (!uri) {
    out.text("null");
    return;
  }
  out.text('"');
  const before = out.length;
  if (base && isRelative(uri)) writeBase(out, base);
  writePath(out, uri);
  if (out.length > before) {
    out.text('"');
  } else {
    out.truncate(before - 1);
    out.text("null");
  }
}
