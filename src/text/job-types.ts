/** Input and output types of merge and diff jobs, as sent between threads. */

export interface MergeInput {
  readonly texts: { readonly base: string | undefined; readonly ours: string; readonly theirs: string };
  readonly options: {
    readonly favor: 'none' | 'ours' | 'theirs';
    readonly style: 'merge' | 'diff3';
    readonly labels: { readonly base: string; readonly ours: string; readonly theirs: string };
  };
}

export interface MergeOutput {
  readonly content: string;
  readonly conflicts: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface DiffInput {
  readonly before: string;
  readonly after: string;
  readonly beforeName: string;
  readonly afterName: string;
  readonly contextLines: number;
}
