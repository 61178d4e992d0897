import { type HybridKey, hybridKey } from './accounts.ts'
import { flipped, hex, join, madeBytes, patched, taggedSha256, toLittleEndian, utf8 } from './bytes.ts'
import { equationHolds, meetsRules, signEd25519 } from './edwards25519.ts'
import { signMlDsa, verifyMlDsa } from './ml-dsa.ts'
import { countGroups, type SpelledBytes, spell, spellTable, type VectorFile } from './render.ts'

/** A signed statement, in the terms of encoding.md, section 6. */
export interface Statement {
  readonly domain: 'transaction' | 'text' | 'attestation'
  readonly chainId: number
  readonly genesis: string
  readonly scheme: 1 | 2 | 3
  /** Transaction id or digest of an attestation in hex, or the text. */
  readonly subject: string
}

/** A hybrid signature to judge over a statement. */
export interface HybridCase {
  readonly group: string
  readonly name: string
  readonly keyScheme: 1 | 2
  readonly key: SpelledBytes
  readonly statement: Statement
  readonly message: SpelledBytes
  readonly signature: SpelledBytes
  readonly valid: boolean
}

interface Draft {
  readonly group: string
  readonly name: string
  readonly statement: Statement
  readonly key: Uint8Array
  readonly signature: Uint8Array
}

const STATEMENT: Statement = {
  domain: 'transaction',
  chainId: 1,
  genesis: hex(madeBytes('genesis', 32)),
  scheme: 1,
  subject: hex(madeBytes('transaction id', 32)),
}

/** Label of a domain: it opens the message and is the ML-DSA context. */
export function label(domain: Statement['domain']): Uint8Array {
  return utf8(`farthing-${domain}/1`)
}

/** label || chain id || genesis || scheme || digest. */
export function messageOf({ domain, chainId, genesis, scheme, subject }: Statement): Uint8Array {
  const digest = domain === 'text' ? taggedSha256('farthing/text/1', utf8(subject)) : Buffer.from(subject, 'hex')
  const id = toLittleEndian(BigInt(chainId), 4)
  return join(label(domain), id, Buffer.from(genesis, 'hex'), Uint8Array.of(scheme), digest)
}

const signedBefore = new Map<string, Uint8Array>()

/** Both halves of a signature over any bytes and context. ML-DSA is deterministic. */
function signBytes(key: HybridKey, message: Uint8Array, context: Uint8Array): Uint8Array {
  const name = [key.publicKey, message, context].map(hex).join()
  const known = signedBefore.get(name)
  if (known !== undefined) return known
  const { signature } = signEd25519(key.classical, message)
  const both = join(signature, signMlDsa(key.lattice, message, context))
  signedBefore.set(name, both)
  return both
}

function sign(key: HybridKey, statement: Statement): Uint8Array {
  return signBytes(key, messageOf(statement), label(statement.domain))
}

function halves(bytes: Uint8Array, split: number): [Uint8Array, Uint8Array] {
  return [bytes.subarray(0, split), bytes.subarray(split)]
}

/** The verdict of the independent implementations of both halves. */
function isValid({ lattice }: HybridKey, { key, signature, statement }: Draft): boolean {
  const message = messageOf(statement)
  const [classicalKey, latticeKey] = halves(key, 32)
  const [classical, latticeSignature] = halves(signature, 64)
  return (
    meetsRules(classicalKey, classical) &&
    equationHolds(classicalKey, message, classical) &&
    verifyMlDsa(lattice.params, {
      key: latticeKey,
      message,
      context: label(statement.domain),
      signature: latticeSignature,
    })
  )
}

/** The file of hybrid cases of both key schemes. */
export function hybridFile(): VectorFile {
  const table: Record<string, Uint8Array> = {}
  const cases = ([1, 2] as const).flatMap((scheme) => {
    const key = hybridKey(scheme, madeBytes('hybrid signer', 32))
    const other = hybridKey(scheme, madeBytes('other hybrid signer', 32))
    const statement = { ...STATEMENT, scheme }
    const signature = sign(key, statement)
    table[`key${scheme}`] = key.publicKey
    table[`other${scheme}`] = other.publicKey
    table[`message${scheme}`] = messageOf(statement)
    const drafts = [
      ...goodOnes(key, statement),
      ...oneHalfBad(key, other, statement),
      ...rearranged(key, other, statement),
      ...otherStatements(key, statement),
      ...wrongLengths(key, statement),
    ]
    table[`signature${scheme}`] = signature
    for (const { group, name, signature } of drafts) {
      if (KEPT.has(group)) table[`${name}, ${scheme}`] = signature
    }
    return drafts.map((draft) => judged(key, draft, table))
  })
  return {
    about: 'hybrid signatures: both halves over one message; the message is label, chain id, genesis, scheme, digest',
    counts: countGroups(cases),
    values: spellTable(table),
    cases,
  }
}

/** Groups whose signatures other cases vary. */
const KEPT: ReadonlySet<string> = new Set(['good'])

function judged(key: HybridKey, draft: Draft, table: Readonly<Record<string, Uint8Array>>): HybridCase {
  const { group, name, statement } = draft
  return {
    group,
    name,
    keyScheme: key.scheme,
    key: spell(draft.key, table),
    statement,
    message: spell(messageOf(statement), table),
    signature: spell(draft.signature, table),
    valid: isValid(key, draft),
  }
}

function goodOnes(key: HybridKey, statement: Statement): Draft[] {
  const good = (name: string, changed: Statement): Draft => ({
    group: 'good',
    name,
    statement: changed,
    key: key.publicKey,
    signature: sign(key, changed),
  })
  return [
    good('transaction', statement),
    good('member of a policy', { ...statement, scheme: 3 }),
    good('attestation', { ...statement, scheme: 3, domain: 'attestation' }),
    good('text', { ...statement, domain: 'text', subject: 'I own this address' }),
    good('empty text', { ...statement, domain: 'text', subject: '' }),
  ]
}

/** One half good and the other bad, in both directions. */
function oneHalfBad(key: HybridKey, other: HybridKey, statement: Statement): Draft[] {
  const { publicKey } = key
  const good = sign(key, statement)
  const [classical, lattice] = halves(good, 64)
  const [otherClassical, otherLattice] = halves(sign(other, statement), 64)
  const next = { ...statement, subject: hex(madeBytes('another transaction id', 32)) }
  const [nextClassical, nextLattice] = halves(sign(key, next), 64)
  const [, foreignContext] = halves(signBytes(key, messageOf(statement), label('text')), 64)
  const draft = (name: string, signature: Uint8Array): Draft => ({
    group: 'half',
    name,
    statement,
    key: publicKey,
    signature,
  })
  return [
    draft('Ed25519 good, ML-DSA by another signer', join(classical, otherLattice)),
    draft('Ed25519 by another signer, ML-DSA good', join(otherClassical, lattice)),
    draft('Ed25519 good, ML-DSA over another message', join(classical, nextLattice)),
    draft('Ed25519 over another message, ML-DSA good', join(nextClassical, lattice)),
    draft('Ed25519 good, ML-DSA with one bit turned', flipped(good, 64 * 8 + 5)),
    draft('Ed25519 with one bit of R turned, ML-DSA good', flipped(good, 5)),
    draft('Ed25519 with one bit of S turned, ML-DSA good', flipped(good, 32 * 8 + 5)),
    draft('Ed25519 good, ML-DSA zero', join(classical, new Uint8Array(lattice.length))),
    draft('Ed25519 zero, ML-DSA good', join(new Uint8Array(64), lattice)),
    draft(
      'Ed25519 good, ML-DSA with padding behind its hints',
      patched(good, good.length - key.lattice.params.k - 1, [1]),
    ),
    draft('Ed25519 good, ML-DSA under the label of texts', join(classical, foreignContext)),
    draft('both bad', join(otherClassical, nextLattice)),
  ]
}

/** Halves in the wrong places: swapped, of two messages, of two signers, of two keys. */
function rearranged(key: HybridKey, other: HybridKey, statement: Statement): Draft[] {
  const [classical, lattice] = halves(sign(key, statement), 64)
  const next = { ...statement, subject: hex(madeBytes('another transaction id', 32)) }
  const [nextClassical, nextLattice] = halves(sign(key, next), 64)
  const [classicalKey, latticeKey] = halves(key.publicKey, 32)
  const [otherClassicalKey, otherLatticeKey] = halves(other.publicKey, 32)
  const good = join(classical, lattice)
  const draft = (name: string, change: Partial<Draft>): Draft => ({
    group: 'rearranged',
    name,
    statement,
    key: key.publicKey,
    signature: good,
    ...change,
  })
  return [
    draft('halves of the signature swapped', { signature: join(lattice, classical) }),
    draft('halves of the key swapped', { key: join(latticeKey, classicalKey) }),
    draft('halves of key and signature swapped', {
      key: join(latticeKey, classicalKey),
      signature: join(lattice, classical),
    }),
    draft('halves over two messages, checked with the first', { signature: join(classical, nextLattice) }),
    draft('halves over two messages, checked with the second', {
      statement: next,
      signature: join(classical, nextLattice),
    }),
    draft('halves over two messages the other way, with the first', { signature: join(nextClassical, lattice) }),
    draft('halves over two messages the other way, with the second', {
      statement: next,
      signature: join(nextClassical, lattice),
    }),
    draft('ML-DSA key of another signer', { key: join(classicalKey, otherLatticeKey) }),
    draft('Ed25519 key of another signer', { key: join(otherClassicalKey, latticeKey) }),
    draft('whole key of another signer', { key: other.publicKey }),
  ]
}

/** A valid signature, shown for another statement than its own. */
function otherStatements(key: HybridKey, statement: Statement): Draft[] {
  const draft = (name: string, made: Statement, shown: Statement, signature = sign(key, made)): Draft => ({
    group: 'other-statement',
    name,
    statement: shown,
    key: key.publicKey,
    signature,
  })
  const text: Statement = { ...statement, domain: 'text', subject: 'I own this address' }
  const digest = hex(taggedSha256('farthing/text/1', utf8(text.subject)))
  const attestation: Statement = { ...statement, scheme: 3, domain: 'attestation' }
  const otherScheme = statement.scheme === 1 ? 2 : 1
  const bare = Buffer.from(statement.subject, 'hex')
  return [
    draft('another transaction', statement, { ...statement, subject: hex(madeBytes('another transaction id', 32)) }),
    draft('another chain id', statement, { ...statement, chainId: 2 }),
    draft('a chain id with its bytes turned round', statement, { ...statement, chainId: 0x01000000 }),
    draft('another network', statement, { ...statement, genesis: hex(madeBytes('another genesis', 32)) }),
    draft('the other key scheme', statement, { ...statement, scheme: otherScheme }),
    draft('a policy', statement, { ...statement, scheme: 3 }),
    draft('made for a policy', { ...statement, scheme: 3 }, statement),
    draft('another text', text, { ...text, subject: 'I own this address.' }),
    draft('a text shown as a transaction', text, { ...statement, subject: digest }),
    draft('a transaction shown as a text', { ...statement, subject: digest }, text),
    draft('a transaction of a policy shown as an attestation', { ...statement, scheme: 3 }, attestation),
    draft('an attestation shown as a transaction of a policy', attestation, { ...statement, scheme: 3 }),
    draft('an attestation on another network', attestation, {
      ...{ ...attestation, genesis: hex(madeBytes('another genesis', 32)) },
    }),
    draft('a text on another network', text, { ...text, genesis: hex(madeBytes('another genesis', 32)) }),
    draft('a text for a policy', text, { ...text, scheme: 3 }),
    draft('the bare transaction id signed', statement, statement, signBytes(key, bare, label('transaction'))),
    draft(
      'the right message signed without a context',
      statement,
      statement,
      signBytes(key, messageOf(statement), new Uint8Array(0)),
    ),
  ]
}

function wrongLengths(key: HybridKey, statement: Statement): Draft[] {
  const good = sign(key, statement)
  const draft = (name: string, change: Partial<Draft>): Draft => ({
    group: 'length',
    name,
    statement,
    key: key.publicKey,
    signature: good,
    ...change,
  })
  const variations = (bytes: Uint8Array, split: number): [string, Uint8Array][] => {
    const [first, second] = halves(bytes, split)
    const zero = Uint8Array.of(0)
    return [
      ['empty', new Uint8Array(0)],
      ['Ed25519 half alone', first],
      ['ML-DSA half alone', second],
      ['without its last byte', bytes.subarray(0, -1)],
      ['without its first byte', bytes.subarray(1)],
      ['with a zero byte behind', join(bytes, zero)],
      ['with another byte behind', join(bytes, Uint8Array.of(0xff))],
      ['with a byte between the halves', join(first, zero, second)],
      ['with a byte moved from half to half', join(first.subarray(0, -1), second, zero)],
    ]
  }
  const sibling = hybridKey(key.scheme === 1 ? 2 : 1, madeBytes('hybrid signer', 32))
  return [
    ...variations(good, 64).map(([name, signature]) => draft(`signature ${name}`, { signature })),
    ...variations(key.publicKey, 32).map(([name, bytes]) => draft(`key ${name}`, { key: bytes })),
    draft('signature of the other key scheme', { signature: sign(sibling, statement) }),
    draft('key of the other key scheme', { key: sibling.publicKey }),
  ]
}
