import { lstatSync, readlinkSync } from 'node:fs';

/** What of /etc programs need to work. No accounts, no keys, nothing of this machine's users. */
const settings = [
  'alternatives', 'ca-certificates', 'crypto-policies', 'debian_version', 'fonts', 'ImageMagick-6', 'java-17-openjdk', 'ld.so.cache', 'ld.so.conf',
  'ld.so.conf.d', 'localtime', 'magic', 'mime.types', 'nsswitch.conf', 'os-release', 'pki/ca-trust/extracted', 'pki/tls/certs', 'pki/tls/cert.pem',
  'protocols', 'services', 'ssl/certs', 'ssl/cert.pem', 'ssl/openssl.cnf', 'terminfo', 'timezone',
]; // biome-ignore format: a list to read across
const network = ['gai.conf', 'host.conf', 'hosts', 'resolv.conf'];
const roots = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Arguments of bwrap for a read-only view of the system's programs and libraries. */
export function systemView(withNetwork: boolean): readonly string[] {
  const etc = [...settings, ...(withNetwork ? network : [])].map((name) => `/etc/${name}`);
  return [
    ['--ro-bind', '/usr', '/usr'],
    ...roots.map(systemFolder),
    ...etc.map((path) => ['--ro-bind-try', path, path]),
    ['--proc', '/proc', '--dev', '/dev', '--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'],
  ].flat();
}

/** On most systems a link into /usr. */
function systemFolder(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}
