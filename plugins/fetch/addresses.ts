import { BlockList, isIP } from 'node:net';

/** Why an address may not be reached, by range. IANA's registries of special addresses, and what clouds put beside them. */
const special: readonly (readonly [why: string, ranges: string])[] = [
  [
    'serves the metadata of cloud machines',
    '169.254.169.254/32 169.254.170.0/24 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 fd00:ec2::/32',
  ],
  ['is this machine', '0.0.0.0/8 127.0.0.0/8 ::/128 ::1/128'],
  ['is a private network', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10'],
  ['is link-local', '169.254.0.0/16 fe80::/10'],
  ['is shared address space of a carrier', '100.64.0.0/10'],
  ['is reserved', '192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 100::/64'],
  ['is multicast', '224.0.0.0/4 ff00::/8'],
  ['is reserved', '2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16'],
];
const lists = special.map(([why, ranges]) => ({ why, list: listOf(ranges.split(' ')) }));
const global = listOf(['2000::/3']);

/** Why this address may not be reached from here; undefined where it may. What is no address at all may not. */
export function refusalOf(address: string): string | undefined {
  const family = isIP(address);
  if (!family) return 'is no address';
  if (family === 4) return inLists(address, 'ipv4');
  const inner = embedded(address);
  if (inner) return inLists(inner, 'ipv4');
  return inLists(address, 'ipv6') ?? (global.check(address, 'ipv6') ? undefined : 'is reserved');
}

/** `::ffff:7f00:1` reaches 127.0.0.1, and so does `64:ff9b::7f00:1` where a network translates. */
export function embedded(address: string): string | undefined {
  const groups = groupsOf(address);
  const head = groups.slice(0, 6).join(':');
  if (!['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0', '0:0:0:0:ffff:0'].includes(head)) return undefined;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of an IPv6 address, as the URL parser writes them. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]];
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

const inLists = (address: string, family: 'ipv4' | 'ipv6') => lists.find(({ list }) => list.check(address, family))?.why;

/** Ranges as `10.0.0.0/8`, or single addresses. */
export function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', bits] = range.split('/');
    const family = isIP(net) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(net, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list;
}

/** `10.0.0.0/8`, or a single address. */
export const isRange = (text: string) => {
  const [net = '', bits, more] = text.split('/');
  const most = isIP(net) === 4 ? 32 : 128;
  return isIP(net) > 0 && more === undefined && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most));
};

/** What of the private addresses is allowed: ranges, and names whose every address is. */
export interface Allowance {
  readonly has: (host: string, address: string) => boolean;
}

/** `10.0.0.0/8`, `192.168.1.7`, `::1`, `nas.local`, `*.lan`. A name never opens the metadata addresses: those take a range that holds them. */
export function allowanceOf(entries: readonly string[]): Allowance {
  const bare = entries.map((entry) =>
    entry
      .trim()
      .toLowerCase()
      .replace(/^\[(.*)\]$/, '$1'),
  );
  const list = listOf(bare.filter(isRange));
  const names = bare.filter((entry) => !isRange(entry));
  const named = (host: string) => names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name));
  return {
    has(host, address) {
      const plain = isIP(address) === 6 ? (embedded(address) ?? address) : address;
      if (list.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')) return true;
      return named(host) && !lists[0]?.list.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
    },
  };
}
