/** The webhook endpoints that requests may name. */
export abstract class CallbackEndpoints {
  abstract exists(endpointId: string): Promise<boolean>;
}
