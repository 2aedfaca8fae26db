/** Which tests must turn red: the part of a path that Jest is given, in one of its projects, or a run of the simulator. */
export type Catcher =
  { readonly project: 'unit' | 'int'; readonly path: string } | { readonly from: number; readonly seeds: number };

/** One small mistake in one file, as a person could make it. */
export interface Fault {
  readonly id: string;
  /** Below `src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly text: string;
  readonly becomes: string;
  /** What goes wrong with it. */
  readonly why: string;
  readonly caughtBy: Catcher;
}

type FaultInFile = Omit<Fault, 'file' | 'caughtBy'> & { readonly caughtBy?: Catcher };

/** Faults of one file; `usual` catches those that name nobody else. */
export function faultsIn(file: string, usual: Catcher, faults: readonly FaultInFile[]): Fault[] {
  return faults.map((fault) => ({ caughtBy: usual, ...fault, file }));
}

export const unit = (path: string): Catcher => ({ project: 'unit', path });
export const int = (path: string): Catcher => ({ project: 'int', path });

/**
 * @returns the source with the fault in it
 * @throws when its text is not there, or is there more than once: the source has changed, and the list must follow
 */
export function withFault(source: string, { id, file, text, becomes }: Fault): string {
  const parts = source.split(text);
  if (parts.length !== 2) throw new Error(`${id}: its text occurs ${parts.length - 1} times in src/${file}, not once`);
  return parts.join(becomes);
}
