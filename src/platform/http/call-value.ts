/** So many lists are in each other at most. */
export const MAX_CALL_DEPTH = 6;

/** Schema of an argument of a call: a list is an array of the contract, or a tuple. Not by a reference to itself, which some generators do not know. */
export const CALL_VALUE = valueWith(MAX_CALL_DEPTH);

type CallValueSchema = { readonly oneOf: { readonly type: string; readonly items?: CallValueSchema }[] };

function valueWith(lists: number): CallValueSchema {
  const texts = ['string', 'integer', 'boolean'].map((type) => ({ type }));
  return { oneOf: lists === 0 ? texts : [...texts, { type: 'array', items: valueWith(lists - 1) }] };
}
