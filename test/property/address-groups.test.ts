import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatIp,
  groupOf,
  hostOf,
  INBOUND_PER_HOST,
  INBOUND_PER_NET,
  type Ip,
  isExempt,
  mayReachOut,
  mayTakeIn,
  netOf,
  OUTBOUND_PER_GROUP,
  parseIp,
} from '../../src/p2p/host/address-groups.ts'
import { parseNodeAddress } from '../../src/p2p/host/node-address.ts'

const byte = fc.integer({ min: 0, max: 255 })
/** Addresses crowded into few networks, so that they reach the limits. */
const crowded: fc.Arbitrary<Ip> = fc.oneof(
  fc.tuple(fc.constantFrom(1, 10, 127), fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 1 }), byte),
  fc
    .tuple(fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 3 }), byte)
    .map(([group, net, host, last]) => [0x2a, 0, 0, group, 0, net, 0, host, ...new Array(7).fill(0), last]),
  fc.tuple(byte, byte).map(([c, d]) => [...new Array(10).fill(0), 0xff, 0xff, 1, 0, c % 2, d]),
)
const any: fc.Arbitrary<Ip> = fc.oneof(
  fc.array(byte, { minLength: 4, maxLength: 4 }),
  fc.array(fc.oneof(fc.constant(0), byte), { minLength: 16, maxLength: 16 }),
)

function largestCrowd(ips: readonly Ip[], nameOf: (ip: Ip) => string): number {
  return Math.max(0, ...[...Map.groupBy(ips, nameOf).values()].map(({ length }) => length))
}

describe('limits by network', () => {
  it('hold for any order of connections, and refuse none without need', () => {
    fc.assert(
      fc.property(fc.array(crowded, { maxLength: 120 }), fc.boolean(), (arrivals, allowPrivate) => {
        const inbound: Ip[] = []
        const outbound: Ip[] = []
        for (const ip of arrivals) {
          const exempt = isExempt(ip, allowPrivate)
          const same = (nameOf: (ip: Ip) => string, others: readonly Ip[]): number =>
            others.filter((other) => nameOf(other) === nameOf(ip)).length
          const takes = mayTakeIn(inbound, ip, allowPrivate)
          const full = same(hostOf, inbound) >= INBOUND_PER_HOST || same(netOf, inbound) >= INBOUND_PER_NET
          expect(takes).toBe(exempt || !full)
          if (takes) inbound.push(ip)
          const reaches = mayReachOut(outbound, ip, allowPrivate)
          expect(reaches).toBe(exempt || same(groupOf, outbound) < OUTBOUND_PER_GROUP)
          if (reaches) outbound.push(ip)
        }
        const bound = inbound.filter((ip) => !isExempt(ip, allowPrivate))
        expect(largestCrowd(bound, hostOf)).toBeLessThanOrEqual(INBOUND_PER_HOST)
        expect(largestCrowd(bound, netOf)).toBeLessThanOrEqual(INBOUND_PER_NET)
        const sought = outbound.filter((ip) => !isExempt(ip, allowPrivate))
        expect(largestCrowd(sought, groupOf)).toBeLessThanOrEqual(OUTBOUND_PER_GROUP)
      }),
    )
  })

  it('nest: one machine lies in one small network, and that in one group', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        if (hostOf(a) === hostOf(b)) expect(netOf(a)).toBe(netOf(b))
        if (netOf(a) === netOf(b)) expect(groupOf(a)).toBe(groupOf(b))
      }),
    )
  })
})

describe('the text of addresses', () => {
  it('has one spelling for each', () => {
    fc.assert(
      fc.property(any, (ip) => {
        expect(parseIp(formatIp(ip))).toEqual(ip)
        const text = `/ip${ip.length === 4 ? 4 : 6}/${formatIp(ip)}/tcp/8421`
        expect(parseNodeAddress(text)).toMatchObject({ ok: true, value: { text, ip } })
        if (ip.length === 4) return
        const long = Array.from({ length: 8 }, (_, i) =>
          (((ip[2 * i] as number) << 8) | (ip[2 * i + 1] as number)).toString(16).padStart(4, '0').toUpperCase(),
        ).join(':')
        expect(parseNodeAddress(`/ip6/${long}/tcp/8421`)).toMatchObject({ ok: true, value: { text } })
      }),
    )
  })

  it('never throws, whatever it is', () => {
    const piece = fc.constantFrom('/', 'ip4', 'ip6', 'dns', 'tcp', 'p2p', '1.2.3.4', '::', ':', '1', '65536', 'é', '\0')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((pieces) => pieces.join('')),
          fc.array(piece).map((pieces) => pieces.join('/')),
        ),
        (text) => {
          const address = parseNodeAddress(text)
          if (address.ok) expect(parseNodeAddress(address.value.text)).toEqual(address)
        },
      ),
    )
  })
})
