/** Paths that were written, or were not as expected, since the last scan: it looks at them again. */
export class Touched extends Set<string> {
  /** What is told of each as well: a scan of everything that may have passed it. */
  alsoTo: Set<string> | undefined;

  override add(path: string): this {
    this.alsoTo?.add(path);
    return super.add(path);
  }
}
