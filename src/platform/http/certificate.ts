import { readFileSync } from 'node:fs';
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
  server.setSecureContext(readCertificate(tls));
  let seen = contentOf(tls);
  const look = (): void => {
    const content = contentOf(tls);
    if (content === seen) return;
    seen = content;
    try {
      server.setSecureContext(readCertificate(tls));
      log.info('certificate read again', { certFile: tls.certFile });
    } catch (error) {
      // Also between the changes of the two files.
      log.warn('failed to read the changed certificate, the one before stays', { error: messageOf(error) });
    }
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

/** Differs when one of the files does. */
function contentOf({ certFile, keyFile }: TlsFiles): string {
  try {
    return readFileSync(certFile, 'utf8') + readFileSync(keyFile, 'utf8');
  } catch (error) {
    return messageOf(error);
  }
}
