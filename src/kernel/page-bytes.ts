/** The most bytes of one page of a list. A single longer item still makes a page. */
export const MAX_PAGE_BYTES = 1024 * 1024;

/** What may be long, with about what it takes in an answer. */
export type Sized<T> = T & { readonly bytes: number };
