/** A start that cannot go on for a reason that the reader can mend: only the words are shown, never a stack. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
