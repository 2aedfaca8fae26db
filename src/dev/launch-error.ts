/** A start that failed for a reason that the user can repair: only the message is shown, never a stack. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
