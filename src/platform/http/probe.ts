import { Agent, request } from 'undici';

const TIMEOUT_MS = 5_000;

/** Whether this URL answers a probe with success. Like the kubelet it takes any certificate: that of a node names where its clients find it. */
export async function isWell(url: string): Promise<boolean> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await body.dump();
    return statusCode >= 200 && statusCode < 300;
  } catch {
    return false;
  } finally {
    await dispatcher.destroy();
  }
}
