import { shortSha256, taggedHashHex } from '../crypto/hash.ts'
import type { SignatureBackend } from '../crypto/hybrid.ts'
import type { SignatureJob, SigningNetwork } from '../crypto/signing.ts'
import { verifyJob } from '../crypto/verifier.ts'
import type { KindHandlers, LedgerModule } from '../ledger/module.ts'
import { assert } from '../primitives/assert.ts'
import { concat, toHex } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import { LruMap } from '../primitives/lru.ts'
import { encodeText } from '../primitives/text.ts'
import type { AnyStateTable, StateKey } from '../state/table.ts'
import { TX_KIND_NAMES, TX_KINDS } from '../tx/kinds.ts'
import type { ChainIndex } from './chain-index.ts'
import { computeGenesis, type Genesis } from './genesis.ts'
import { assertParams, type NetworkParams, type RuleStep, type Rules } from './params.ts'
import { TabVerdicts } from './tab-verdicts.ts'

/** The ledgers, and a handler for every transaction kind. */
export interface Protocol {
  readonly modules: readonly LedgerModule[]
  readonly handlers: KindHandlers
  /** Lookups beside the state, outside consensus. */
  readonly indexes: readonly ChainIndex[]
  /** Checks signatures inside payloads. The signatures of witnesses are checked apart from execution. */
  readonly signatures: SignatureBackend
}

/** A network's rules by height, with the ledgers that execute them. */
export interface RuleBook extends Protocol {
  readonly params: NetworkParams
  readonly genesis: Genesis
  readonly network: SigningNetwork
  readonly at: (height: number) => Rules
  /** If a rule step begins at this height, the rules of the block before; else null. */
  readonly endedAt: (height: number) => Rules | null
  /** Hash of the rules at all heights, as far as this release knows them. */
  readonly fingerprint: Hash
  /**
   * Hash of the rules up to a height. Two nodes must agree on it once their chain has that height. Later steps may
   * differ, since one node may not be upgraded yet.
   */
  readonly fingerprintAt: (height: number) => Hash
  /**
   * Whether a chain that followed the rules of this fingerprint up to a height also follows these. That is so without the
   * rules about tabs: they only allow what was malformed before.
   */
  readonly continues: (fingerprint: Hash, height: number) => boolean
  /** Verdicts are remembered: miners and validators ask repeatedly. */
  readonly verifies: (job: SignatureJob) => boolean
  readonly tabVerdicts: TabVerdicts
  readonly tableOf: (key: StateKey) => AnyStateTable
}

/** Checks the parameters and binds them to the ledgers. */
export function createRuleBook(params: NetworkParams, protocol: Protocol): RuleBook {
  assertParams(params)
  const tables = tablesByPrefix(protocol.modules)
  const genesis = computeGenesis(params, protocol.modules)
  const { chainId } = (params.steps[0] as RuleStep).rules.tx
  const fingerprintsOf = (steps: readonly RuleStep[]): readonly Hash[] =>
    steps.map((_, i) => fingerprintOf({ ...params, steps: steps.slice(0, i + 1) }, protocol.modules))
  const fingerprints = fingerprintsOf(params.steps)
  const untabbed = fingerprintsOf(params.steps.map(withoutTabs))
  const stepAt = (height: number): number => params.steps.findLastIndex((step) => step.fromHeight <= height)
  const at = (height: number): Rules => (params.steps[stepAt(height)] as RuleStep).rules
  return {
    ...protocol,
    params,
    genesis,
    network: { chainId, genesis: genesis.block.id },
    verifies: rememberingVerifier(protocol.signatures),
    tabVerdicts: new TabVerdicts(protocol.signatures),
    at,
    endedAt: (height) =>
      params.steps.some(({ fromHeight }) => fromHeight > 0 && fromHeight === height) ? at(height - 1) : null,
    fingerprint: fingerprints.at(-1) as Hash,
    fingerprintAt: (height) => fingerprints[stepAt(height)] as Hash,
    continues: (known, height) => [fingerprints, untabbed].some((hashes) => hashes[stepAt(height)] === known),
    tableOf: (key) => {
      const table = tables.get(key.slice(0, 2))
      assert(table !== undefined, `no table has the prefix of state key ${key}`)
      return table
    },
  }
}

function withoutTabs({ fromHeight, rules }: RuleStep): RuleStep {
  const { tabs: _, ...tx } = rules.tx
  return { fromHeight, rules: { ...rules, tx } }
}

/** Remembered verdicts; each is a hash and a boolean. */
const VERDICTS_KEPT = 1_024

function rememberingVerifier(backend: SignatureBackend): RuleBook['verifies'] {
  const verdicts = new LruMap<string, boolean>(VERDICTS_KEPT)
  return (job) => {
    // Keys and signatures are hashed to a fixed length, so the joined bytes stand for only one job.
    const parts = job.parts.flatMap(({ key, signature }) => [
      Uint8Array.of(key.scheme),
      shortSha256(key.bytes),
      shortSha256(signature),
    ])
    const id = toHex(shortSha256(concat(encodeText(job.domain), shortSha256(job.message), ...parts)))
    const known = verdicts.get(id)
    if (known !== undefined) return known
    const verdict = verifyJob(backend, job)
    verdicts.set(id, verdict)
    return verdict
  }
}

function tablesByPrefix(modules: readonly LedgerModule[]): ReadonlyMap<string, AnyStateTable> {
  const tables = new Map<string, AnyStateTable>()
  for (const table of modules.flatMap((module) => module.tables)) {
    const prefix = toHex(Uint8Array.of(table.prefix))
    assert(!tables.has(prefix), `two tables have the prefix 0x${prefix}`)
    tables.set(prefix, table)
  }
  return tables
}

/** A ledger that a later step brings is left out, so that nodes of an earlier release agree up to that step. */
function fingerprintOf(params: NetworkParams, modules: readonly LedgerModule[]): Hash {
  const { rules } = params.steps.at(-1) as RuleStep
  const ledgers = modules.filter(({ isIn }) => isIn === undefined || isIn(rules))
  const handled = new Set(ledgers.flatMap(({ handlers }) => Object.keys(handlers)))
  const kinds = TX_KIND_NAMES.filter((kind) => handled.has(kind)).map((kind) => [kind, TX_KINDS[kind].number])
  const state = ledgers.flatMap(({ tables }) => tables).map(({ name, prefix, rooted }) => [name, prefix, rooted])
  return taggedHashHex(
    'rules',
    encodeText(canonicalJson({ kinds, state, steps: params.steps, genesis: params.genesis })),
  )
}

/** JSON with sorted keys, and bigints as decimal strings: one text per value. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return part.toString()
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
