interface Reason {
  readonly because: string;
}

/** Functions whose errors reach no answer. */
export const NOT_FOLLOWED: Readonly<Record<string, Reason>> = {
  'TxBatchController.createAll': { because: 'the problem of an item stands in the answer of the batch, which is 200' },
  'ChainStanding.execute': { because: 'what the chain does not tell is null' },
};

/** Functions whose promise another one settles. */
export const SETTLED_BY: Readonly<Record<string, Reason & { readonly by: string }>> = {
  'IntakeBatcher.submit': { by: 'IntakeBatcher.insertPart', because: 'one insert stores the requests of many callers' },
};

/** Problems that an operation does not answer although it calls what throws them; or only if it goes through that function. */
export const NOT_ANSWERED: Readonly<Record<string, Reason & { readonly unlessThrough?: string }>> = {
  internal_error_500: { because: 'it is one of every operation' },
  invalid_hash_400: { because: 'the rules of the body check the only hash that a request has' },
  invalid_hex_400: { because: 'the rules of the body refuse it first' },
  invalid_time_400: { because: 'the rules of the body refuse it first' },
  invalid_address_400: { unlessThrough: 'signerOfPath', because: 'the rules of body and query refuse it first' },
  invalid_quantity_400: {
    unlessThrough: 'toPayload',
    because: 'the rules of the body refuse what has more than 256 bits',
  },
  not_sent_yet_409: { unlessThrough: 'toSpeedUp', because: 'it refuses a speed-up' },
  being_requeued_409: { unlessThrough: 'toReplace', because: 'it refuses a replacement' },
  being_cancelled_409: { unlessThrough: 'toReplace', because: 'it refuses a replacement' },
  other_kind_409: { unlessThrough: 'toReplace', because: 'it refuses a replacement' },
  illegal_transition_409: { because: 'a state is asked for before it is changed, under one lock' },
  stale_copy_409: { because: 'what is written under a lease was read under it' },
  unknown_signer_422: { unlessThrough: 'CreateTx.store', because: 'a node has leases only where it has the key' },
};
