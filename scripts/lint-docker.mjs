import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureInstalled, ROOT } from './bootstrap.mjs';

/* What `docker build` and `docker compose up` would stumble over, and what we want of an image, without a Docker daemon. */

await ensureInstalled();
const { parse } = await import('yaml');
const FOLDER = join(ROOT, 'docker');
const KNOWN = new Set(
  'FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL'.split(
    ' ',
  ),
);

const faults = [
  ...lintDockerfile(read('Dockerfile'), sentPaths()),
  ...lintCompose(parse(read('compose.yaml'), { merge: true })),
];
for (const fault of faults) console.error(fault);
console.log(`docker: ${faults.length === 0 ? 'ok' : `${faults.length} faults`}`);
process.exit(faults.length === 0 ? 0 : 1);

function read(file) {
  return readFileSync(join(FOLDER, file), 'utf8');
}

/** What of the clone reaches the build: everything is ignored but these. */
function sentPaths() {
  const lines = read('Dockerfile.dockerignore').split('\n').filter(Boolean);
  return new Set(lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)));
}

/** One string for each instruction, without comments and line ends. */
function instructionsOf(text) {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  return lines
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
}

function lintDockerfile(text, context) {
  const found = [];
  const stages = new Set();
  let user = null;
  for (const instruction of instructionsOf(text)) {
    const [word, ...rest] = instruction.trim().split(/\s+/);
    const say = (what) => found.push(`Dockerfile: ${what}: ${instruction}`);
    if (!KNOWN.has(word)) say('no such instruction');
    if (word === 'FROM') {
      const [image, as, stage] = rest;
      if (!stages.has(image) && !isPinned(image)) say('an image without a version');
      if (as?.toUpperCase() === 'AS') stages.add(stage);
      user = null;
    }
    if (word === 'COPY') for (const what of copyFaults(rest, stages, context)) say(what);
    if (word === 'ADD') say('ADD does more than COPY');
    if (word === 'USER') user = rest[0];
    if (word === 'CMD' && !isJsonArray(rest.join(' '))) say('a shell would keep signals from the service');
  }
  if (user === null || user === 'root' || user === '0') found.push('Dockerfile: the last stage runs as root');
  return found;
}

function copyFaults(words, stages, context) {
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  if (from !== undefined) return stages.has(from) ? [] : [`there is no stage ${from}`];
  const sources = words.filter((word) => !word.startsWith('--')).slice(0, -1);
  return sources.flatMap((source) => {
    const path = source.replace(/^\.\//, '');
    if (!existsSync(join(ROOT, path))) return [`${path} does not exist`];
    return context.has(path) ? [] : [`${path} is ignored by Dockerfile.dockerignore`];
  });
}

function lintCompose({ services = {}, volumes = {} }) {
  return Object.entries(services).flatMap(([name, service]) => {
    const found = [];
    if (!service.build && !isPinned(service.image ?? '')) found.push('an image without a version');
    if (service.build && !existsSync(resolve(FOLDER, service.build.context, service.build.dockerfile)))
      found.push('its Dockerfile does not exist');
    for (const other of service.depends_on ?? []) if (!(other in services)) found.push(`there is no service ${other}`);
    if (service.build && !isConfined(service))
      found.push('read_only, cap_drop: [ALL] and no-new-privileges are missing');
    for (const mount of service.volumes ?? []) found.push(...mountFaults(mount.split(':')[0], volumes));
    return found.map((fault) => `compose.yaml: ${name}: ${fault}`);
  });
}

function isConfined({ read_only, cap_drop = [], security_opt = [] }) {
  return read_only === true && cap_drop.includes('ALL') && security_opt.includes('no-new-privileges:true');
}

function mountFaults(source, volumes) {
  if (source.startsWith('.')) return existsSync(resolve(FOLDER, source)) ? [] : [`${source} does not exist`];
  return source in volumes ? [] : [`there is no volume ${source}`];
}

function isPinned(image) {
  return /[:@][^/]*\d[^/]*$/.test(image);
}

function isJsonArray(text) {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}
