/** Mutants that change nothing that anybody can see: by file, the line as it is and as it becomes, and why. They do not count. */

export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
