const PRIVATE = 'it told callers of one account what another one has; it is null only where a caller may not know it';

/**
 * Changes since the version before that break clients, as the check names them, each with the reason why the version in package.json stays.
 * The list is emptied when the version is raised.
 */
export const ALLOWED: readonly { readonly change: string; readonly because: string }[] = [
  {
    change:
      'GET /api/v1/signers: the response property `items/items/paused/anyOf[#/components/schemas/PauseDto]/by` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
  {
    change:
      'GET /api/v1/stops: the response property `items/items/by` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
  {
    change:
      'GET /api/v1/tx/{txId}/explain: the response property `facts/signer/paused/anyOf[#/components/schemas/PauseDto]/by` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
  {
    change:
      'POST /api/v1/signers/{chainId}/{address}/pause: the response property `paused/anyOf[#/components/schemas/PauseDto]/by` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
  {
    change:
      'POST /api/v1/signers/{chainId}/{address}/resume: the response property `paused/anyOf[#/components/schemas/PauseDto]/by` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
  {
    change:
      'POST /api/v1/signers/{chainId}/{address}/sync: the response property `leftFree/items/txId` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
  {
    change:
      'POST /api/v1/stop: the response property `by` became nullable for the status `200` [response-property-became-nullable]',
    because: PRIVATE,
  },
];
