/**
 * Error codes: they begin with the name of the guest that speaks, and two
 * guests share what reads a diagnostic.
 */

let lines: bool = false;

/** Makes the codes those of `rdjsonl`. */
export function speakAsLines(): void {
  lines = true;
}

export function invalid(): string {
  return lines ? "rdjsonl-invalid" : "rdjson-invalid";
}

export function invalidLine(): string {
  return lines ? "rdjsonl-invalid-line" : "rdjson-invalid-line";
}

export function invalidSeverity(): string {
  return lines ? "rdjsonl-invalid-severity" : "rdjson-invalid-severity";
}
