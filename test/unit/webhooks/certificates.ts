import { generate } from 'selfsigned';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

type Options = NonNullable<Parameters<typeof generate>[1]>;

const DAY_MS = 86_400_000;

/** Signs itself. */
export function authority(): Promise<Certificate> {
  return certificate('Authority of a test', {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
}

/** For one host name, by this authority, or by itself. */
export function certificateOf(name: string, ca?: Certificate, notAfterDate?: Date): Promise<Certificate> {
  return certificate(name, {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    ...(ca && { ca }),
    ...(notAfterDate && { notAfterDate }),
  });
}

async function certificate(name: string, options: Options): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 30 * DAY_MS),
    ...options,
  });
  return { key: made.private, cert: made.cert };
}
