/**
 * Changes since the version before that break clients, as the check names them, each with the reason why the version in package.json stays.
 * The list is emptied when the version is raised.
 */
export const ALLOWED: readonly { readonly change: string; readonly because: string }[] = [];
