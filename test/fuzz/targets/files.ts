import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairFromSeed, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import { byteList, encode, list } from '../../../consensus/primitives/codec.ts'
import { encodeTransaction, TX_BYTES_MAX } from '../../../consensus/tx/transaction.ts'
import { AddressBook } from '../../../src/p2p/host/address-book.ts'
import { formatIp, parseIp } from '../../../src/p2p/host/address-groups.ts'
import { Anchors } from '../../../src/p2p/host/anchors.ts'
import { Bans } from '../../../src/p2p/host/bans.ts'
import { IDENTITY_FILE, loadIdentity } from '../../../src/p2p/host/identity.ts'
import { MessageReader, type Reading } from '../../../src/p2p/host/message-reader.ts'
import { MessageScanner } from '../../../src/p2p/host/message-scanner.ts'
import { ipOf, parseNodeAddress, withPeer } from '../../../src/p2p/host/node-address.ts'
import { RecordWriter } from '../../../src/p2p/host/peer-records.ts'
import { loadMempool } from '../../../src/storage/mempool-file.ts'
import { makeOperatorToken, readOperatorToken } from '../../../src/storage/operator-token.ts'
import { field, gossipFrame, joined, prefixed, subscribeFrame } from '../../support/frames.ts'
import { addressOf, MemoryRecords, peerId } from '../../support/peering.ts'
import { fixture } from '../fixture.ts'
import { expectSame, type Target, wordOf } from '../target.ts'

const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value))
const ADDRESSES = [
  addressOf(1, '8.8.8.8'),
  '/ip4/8.8.8.8/tcp/8421',
  `/ip6/2001:db8::1/tcp/1/p2p/${peerId(2)}`,
  '/ip6/::ffff:1.2.3.4/tcp/65535',
  `/dns4/node.example.org/tcp/8421/p2p/${peerId(3)}`,
  '/dns/a/tcp/1',
]

const nodeAddress: Target = {
  name: 'node-address',
  seeds: () => ADDRESSES.map(text),
  run: (bytes) => {
    const given = Buffer.from(bytes).toString()
    ipOf(given)
    const address = parseNodeAddress(given)
    if (!address.ok) return wordOf(address)
    const { text: canonical, ip, peer } = address.value
    // An address has one canonical spelling, which parses to itself.
    const again = parseNodeAddress(canonical)
    if (!again.ok || again.value.text !== canonical) throw new Error(`${canonical} does not read as itself`)
    if (ip !== null && formatIp(parseIp(formatIp(ip)) as never) !== formatIp(ip)) throw new Error('another ip')
    if (!parseNodeAddress(withPeer(address.value, peerId(9)).text).ok) throw new Error('no peer fits')
    return `${canonical.split('/')[1]} ${peer === null ? 'no peer' : 'a peer'}`
  },
}

/** A store of peers with an arbitrary record; the input is `<key>\n<value>`. */
const peerRecords: Target = {
  name: 'peer-records',
  seeds: () => {
    const counts = { heardMs: 1, successMs: 2, seenMs: 0, triedMs: 3, failures: 4 }
    const ban = { target: peerId(1), reason: 'flood', sinceMs: 1, untilMs: 2 ** 50 }
    return [
      `address/${addressOf(1, '8.8.8.8')}\n${JSON.stringify({ source: '4:8.8', ...counts })}`,
      `ban/${peerId(1)}\n${JSON.stringify(ban)}`,
      `ban/60.1.0.1\n${JSON.stringify({ ...ban, target: '60.1.0.1' })}`,
      `anchor/0\n${addressOf(1, '8.8.8.8')}`,
      'address/\nnull',
      'ban/\nnull',
    ].map(text)
  },
  run: async (bytes) => {
    const [key = '', ...rest] = Buffer.from(bytes).toString().split('\n')
    const records = new MemoryRecords(new Map([[key, rest.join('\n')]]))
    const writer = new RecordWriter(records, (error) => {
      throw error
    })
    const clock = { now: () => 1_700_000_000_000 }
    const book = new AddressBook({ clock, writer, allowPrivate: false, random: () => 0.5 })
    const bans = new Bans(clock, writer)
    const anchors = new Anchors(writer)
    for (const part of [book, bans, anchors]) await part.load(records)
    const picked = book.pick(() => true, true)
    book.good(10)
    await writer.flush()
    return `${book.size} ${bans.list().length} ${anchors.texts.length} ${picked === undefined}`
  },
}

/** A reader on a stream that gives the bytes in two pieces, then ends. */
const messageReader: Target = {
  name: 'message-reader',
  seeds: () => [prefixed(text('a message')), prefixed(new Uint8Array(0)), prefixed(new Uint8Array(5_000)), text('x')],
  run: async (bytes) => {
    const bytesMax = 4_096
    const stream = new EventTarget()
    let junk = 0
    let seen = 0
    const reader = new MessageReader(stream as never, {
      bytesMax,
      onBytes: (count) => {
        seen += count
      },
      onJunk: () => {
        junk += 1
      },
    })
    const cut = bytes.length >> 1
    for (const data of [bytes.subarray(0, cut), bytes.subarray(cut)])
      stream.dispatchEvent(Object.assign(new Event('message'), { data }))
    stream.dispatchEvent(new Event('end'))
    stream.dispatchEvent(new Event('close'))
    const reading: Reading = await reader.done
    if (seen !== bytes.length || junk > 1) throw new Error(`${seen} bytes, ${junk} times junk`)
    if (reading.kind !== 'message') return reading.kind
    if (reading.bytes.length > bytesMax) throw new Error('too long a message')
    const length = reading.bytes.length
    const start = bytes.length - length - (junk === 0 ? 0 : bytes.length)
    if (junk === 0) expectSame(reading.bytes, bytes.subarray(start))
    return `message, junk ${junk}`
  },
}

/** The verdict on a gossip stream must not depend on how it is cut. */
const messageScanner: Target = {
  name: 'message-scanner',
  seeds: () => [
    subscribeFrame('/one', '/two'),
    gossipFrame('/topic', new Uint8Array(300).fill(255)),
    prefixed(field(3, field(1, joined(field(1, text('/t')), field(2, new Uint8Array(32)))))),
    prefixed(
      field(3, field(4, joined(field(1, text('/t')), field(2, field(1, text('peer'))), Uint8Array.of(0x18, 60)))),
    ),
    prefixed(joined(Uint8Array.of(0x59), new Uint8Array(8), Uint8Array.of(0x5d), new Uint8Array(4))),
  ],
  run: (bytes) => {
    const whole = new MessageScanner(4_096)
    const pieces = new MessageScanner(4_096)
    const told = whole.scan(bytes)
    let toldOfPieces: typeof told = null
    for (let at = 0; at < bytes.length && toldOfPieces === null; at++)
      toldOfPieces = pieces.scan(bytes.subarray(at, at + 1))
    if (told !== toldOfPieces) throw new Error(`${told} at once, ${toldOfPieces} byte by byte`)
    if (whole.units > 2 * bytes.length + 1) throw new Error(`${whole.units} units for ${bytes.length} bytes`)
    return told ?? 'sound'
  },
}

/** A target for a changed file of the data folder. */
function fileTarget(
  name: string,
  file: string,
  parts: Pick<Target, 'seeds'> & { read: (path: string) => Promise<string> },
): Target {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-fuzz-'))
  return {
    name,
    // Each run waits for the disk.
    share: 0.05,
    seeds: parts.seeds,
    run: (bytes) => {
      const path = join(folder, file)
      writeFileSync(path, bytes)
      return parts.read(path)
    },
    close: async () => rmSync(folder, { recursive: true }),
  }
}

const operatorToken = fileTarget('operator-token', 'operator.token', {
  seeds: () => [text(`${'5e'.repeat(32)}\n`), text('5e'.repeat(32)), text('')],
  read: async (path) => {
    const found = await readOperatorToken(path)
    const made = await makeOperatorToken(path)
    if (!/^[0-9a-fA-F]{64}$/.test(made)) throw new Error(`the token is ${made}`)
    if (found !== undefined && found !== made) throw new Error('a good token was replaced')
    return found === undefined ? 'made anew' : 'kept'
  },
})

const mempoolFile = fileTarget('mempool-file', 'mempool.bin', {
  seeds: async () => {
    const { waiting, next } = await fixture()
    const codec = list(byteList(TX_BYTES_MAX), 2 ** 20)
    return [[], waiting, [...next.transactions, ...waiting]].map((all) => encode(codec, all.map(encodeTransaction)))
  },
  read: async (path) => `${(await loadMempool(path)).length} transactions`,
})

const identityFile = fileTarget('identity-file', IDENTITY_FILE, {
  seeds: async () => [privateKeyToProtobuf(await generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(7)))],
  read: async (path) => {
    const identity = await loadIdentity(join(path, '..'))
    if (!identity.ok) return wordOf(identity)
    // The node must be able to prove its identity to peers.
    const { key } = identity.value
    const said = text('it is me')
    if (!(await key.publicKey.verify(said, await key.sign(said)))) throw new Error('a key whose halves do not fit')
    return 'ok'
  },
})

/** Readers of streams, texts and files. */
export const FILE_TARGETS: readonly Target[] = [
  nodeAddress,
  peerRecords,
  messageReader,
  messageScanner,
  operatorToken,
  mempoolFile,
  identityFile,
]
