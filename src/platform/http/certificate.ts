import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsFiles } from '../../config/index.js';
import { InvalidInput, messageOf } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';

/** By time, because a file of Kubernetes changes with a link above it, which no notification tells. */
const LOOK_EVERY_MS = 10_000;

/** @throws InvalidInput when a file cannot be read, or certificate and key do not belong together */
export function readCertificate({ certFile, keyFile }: TlsFiles): SecureContextOptions {
  try {
    const options = { cert: readFileSync(certFile), key: readFileSync(keyFile), minVersion: 'TLSv1.2' } as const;
    createSecureContext(options);
    return options;
  } catch (error) {
    throw new InvalidInput(
      'invalid_certificate',
      `server.tls cannot be used: ${messageOf(error)}`,
      'give certFile and keyFile as PEM files that belong together, and that this process can read',
    );
  }
}

/** New connections get the certificate of now, and those that are open keep theirs. @returns ends it */
export function followCertificate(server: Server, tls: TlsFiles, log: Log, everyMs = LOOK_EVERY_MS): () => void {
  const files = [tls.certFile, tls.keyFile];
  const reload = (): void => {
    try {
      server.setSecureContext(readCertificate(tls));
      log.info('certificate read again', { certFile: tls.certFile });
    } catch (error) {
      // Also between the changes of the two files.
      log.warn('failed to read the changed certificate, the one before stays', { error: messageOf(error) });
    }
  };
  for (const file of files) watchFile(file, { interval: everyMs, persistent: false }, reload);
  return () => {
    for (const file of files) unwatchFile(file, reload);
  };
}
