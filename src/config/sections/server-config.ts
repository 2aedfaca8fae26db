import { Count, Duration, Size, Text } from '../config-fields.js';

export class ServerConfig {
  @Text()
  host = '0.0.0.0';

  /** Port of the API; with 0 the system chooses one. */
  @Count({ min: 0, max: 65_535 })
  port = 3000;

  /** Bytes. */
  @Size()
  bodyLimit = 1024 * 1024;

  /** Requests that wait for a state (`waitFor`) at once; above it a node answers 429. */
  @Count()
  maxWaiters = 10_000;

  /** Milliseconds to finish the work in flight before leases are released; below Kubernetes' default of 30 s. */
  @Duration()
  shutdownTimeout = 25_000;
}
