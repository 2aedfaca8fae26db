/**
 * The code of an error of Node or of a package (`ECONNREFUSED`), or of its cause; '' without one. Not by class: such errors come from more
 * than one copy of their classes.
 */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // A connect to several addresses fails with several errors at once.
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return 'cause' in error ? codeOf(error.cause) : '';
}
