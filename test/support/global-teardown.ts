import { takeServer } from './shared-server.js';

export default async function globalTeardown(): Promise<void> {
  await takeServer()?.stop();
}
