/**
 * That two rows have the same endpoint, where the tx is given. As text, so that only the index by tx fits (webhook_delivery_order): one by
 * endpoint reads the whole backlog of the endpoint.
 */
export const SAME_ENDPOINT = (a: string, b: string): string => `${a}.endpoint_id::text = ${b}.endpoint_id::text`;
