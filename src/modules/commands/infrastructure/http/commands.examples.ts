/** Example bodies in Swagger. */
export const CANCEL_EXAMPLES = {
  once: { summary: 'With an idempotency key', value: { requestId: 'cancel-invoice-4711' } },
  plain: { summary: 'Without one', value: {} },
};

export const SPEED_UP_EXAMPLES = {
  market: { summary: 'The market decides', value: { requestId: 'speed-up-invoice-4711' } },
  fees: {
    summary: 'With fees to pay at least',
    value: { fees: { maxFeePerGas: '60000000000', maxPriorityFeePerGas: '3000000000' } },
  },
};

export const REPLACE_EXAMPLES = {
  transfer: {
    summary: 'Another amount',
    value: {
      requestId: 'invoice-4711-corrected',
      payload: { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', value: '2000000000000000' },
    },
  },
};
