import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AppModule } from './app.module.js';
import { configFrom } from './config/index.js';
import { openApiOf } from './openapi.js';
import { createFastifyAdapter } from './platform/http/fastify-server.js';

export const DOCUMENT_FILE = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));

/** Nothing of it is in the document: no provider comes into being. */
const ANY_CONFIG = {
  database: { url: 'postgres://127.0.0.1/any' },
  chains: [{ id: 31_337, rpcUrls: ['http://127.0.0.1:1'] }],
};

/** The OpenAPI document of this code, as a running node answers it. */
export async function describedApi(): Promise<OpenAPIObject> {
  const config = configFrom(ANY_CONFIG);
  const app = await NestFactory.create(AppModule.register(config), createFastifyAdapter(config.server), {
    logger: false,
    preview: true,
    abortOnError: false,
  });
  try {
    return openApiOf(app);
  } finally {
    await app.close();
  }
}

/** `npm run openapi:dump`. A test compares the file with the code. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(DOCUMENT_FILE, JSON.stringify(await describedApi()));
  process.stdout.write(`wrote ${DOCUMENT_FILE}\n`);
}
