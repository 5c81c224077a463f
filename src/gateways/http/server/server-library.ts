// Loads uWebSockets.js: the newest build that this platform can load, and no other one. The builds are native modules, one per platform and
// major version of Node.js. npm selects packages by system, processor and Node.js, but does not know the version of glibc. So the only sure
// test of a build is to load it.
import { StartFault } from '../../../concurrency/start-fault.js';
import './uws-environment.js';

export type ServerLibrary = typeof import('uWebSockets.js');

/** No build can be loaded. The message names in one sentence what is missing and the remedy. */
export class ServerLibraryFault extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('server-library-missing', message, options);
  }
}

/** The properties of the platform that decide which builds exist. */
export interface Platform {
  readonly system: string;
  readonly processor: string;
  /** The version of Node.js, such as 24.12.0. */
  readonly node: string;
  /** Undefined where the C library is not glibc. */
  readonly glibc: string | undefined;
}

interface Build {
  readonly load: () => Promise<ServerLibrary>;
  /** The supported major versions of Node.js. */
  readonly nodes: readonly number[];
  /** The oldest supported glibc. */
  readonly glibc: string;
}

/** The newest build comes first. */
const BUILDS: readonly Build[] = [
  { load: async () => (await import('uWebSockets.js')).default, nodes: [22, 24, 26], glibc: '2.38' },
  {
    load: async () => (await import('uWebSockets.js-20.51')).default as ServerLibrary,
    nodes: [18, 20, 22, 23],
    glibc: '2.27',
  },
];

let loaded: Promise<ServerLibrary> | undefined;

/** Loads the library once and returns it at every call. @throws ServerLibraryFault */
export function loadServerLibrary(): Promise<ServerLibrary> {
  loaded ??= loadNewest(BUILDS, thisPlatform());
  return loaded;
}

/** Tries the builds for this Node.js in order. @throws ServerLibraryFault */
export async function loadNewest(
  builds: readonly Pick<Build, 'load' | 'nodes'>[],
  platform: Platform,
): Promise<ServerLibrary> {
  const causes: unknown[] = [];
  // npm may install the package of one build where the other build looks for it.
  for (const { load, nodes } of builds) {
    if (!nodes.includes(majorOf(platform.node))) continue;
    try {
      return await load();
    } catch (cause) {
      causes.push(cause);
    }
  }
  throw new ServerLibraryFault(missing(platform), { cause: new AggregateError(causes) });
}

/** The message for a platform on which no build loads: what is missing, and the remedy. */
export function missing({ system, processor, node, glibc }: Platform): string {
  const here = `Node.js ${node} on ${system} ${processor}${glibc === undefined ? '' : ` with glibc ${glibc}`}`;
  const none = `the HTTP server has no build for ${here}`;
  const major = majorOf(node);
  if (!['linux', 'darwin'].includes(system) || !['x64', 'arm64'].includes(processor)) {
    return `${none}: use Linux or macOS on x64 or arm64`;
  }
  if (system === 'linux' && glibc === undefined) {
    return `${none} without glibc: use a system that has glibc, such as Debian 13 (Alpine has none)`;
  }
  const forNode = BUILDS.filter(({ nodes }) => nodes.includes(major));
  if (forNode.length === 0) return `${none}: use Node.js 24 (20 or 22 where glibc is older than 2.38)`;
  const oldest = forNode[forNode.length - 1]!.glibc;
  if (glibc !== undefined && isOlder(glibc, oldest)) {
    const others = isOlder(glibc, '2.27') ? '' : ', or Node.js 20 or 22 here';
    return `${none}: Node.js ${major} needs glibc ${oldest} or later; use a newer system, such as Debian 13 or Ubuntu 24.04${others}`;
  }
  const name = `@uwsjs/${system}-${processor}-${major}`;
  return `the package ${name} with the HTTP server's program for ${here} is not installed: run "npm ci" with this Node.js and without --omit=optional`;
}

function majorOf(node: string): number {
  return Number.parseInt(node, 10);
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number);
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}

function thisPlatform(): Platform {
  const { platform: system, arch: processor, versions, report } = process;
  return {
    system,
    processor,
    node: versions.node,
    // A report takes milliseconds, so it is made only when a build is missing.
    get glibc() {
      return system === 'linux' ? glibcVersion(report) : undefined;
    },
  };
}

function glibcVersion(report: NodeJS.ProcessReport | undefined): string | undefined {
  const { header } = (report?.getReport() ?? {}) as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime;
}
