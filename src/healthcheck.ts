import 'reflect-metadata';
import { loadConfig } from './config/index.js';
import { isWell } from './platform/http/probe.js';

/** The HEALTHCHECK of the image: reads the config that the node beside it reads. Liveness only. */
process.exit((await isWell(`${loadConfig().server.probesUrl}/health/live`)) ? 0 : 1);
