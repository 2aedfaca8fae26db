/**
 * SQL: whether outside senders have the key of a signer, and no node does.
 * @param chain column of a chain id
 * @param address column of an address
 */
export const isExternal = (chain: string, address: string): string =>
  `EXISTS (SELECT FROM signer x WHERE x.chain_id = ${chain} AND x.address = ${address} AND x.custody ->> 'type' = 'external')`;
