import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import { decodeText } from '../../consensus/primitives/text.ts'
import { checkTransaction } from '../../consensus/tx/check.ts'
import { decodeTransaction } from '../../consensus/tx/transaction.ts'
import { ACTORS } from '../support/actors.ts'
import { BAD_PAYLOADS, badWitnesses, plain } from '../support/hostile.ts'
import { GOOD_TAB_PAYLOADS } from '../support/hostile-tabs.ts'
import { testParams } from '../support/network.ts'
import { hex, Refusal } from '../support/reference/bytes.ts'
import { transactionBytes } from '../support/reference/craft.ts'
import { genesisRecords } from '../support/reference/genesis-records.ts'
import { Ledger } from '../support/reference/ledger.ts'
import { BODY, TRANSACTION, WITNESS } from '../support/reference/schemas.ts'
import * as reference from '../support/reference/text.ts'
import { checkForm, checkKeys, readTransaction } from '../support/reference/transactions.ts'
import { runs } from '../support/runs.ts'
import { type Op, opArbitrary, Scenario } from '../support/scenario.ts'

const { genesis, steps } = testParams({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } })
const rules = (steps[0] as (typeof steps)[number]).rules

/** The result of the work; undefined if the reference refuses. */
function orRefused<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

describe('text', () => {
  const agree = (bytes: Uint8Array): void => {
    const own = orRefused(() => reference.decodeText(bytes))
    // Millions of passing expectations would take minutes.
    if (decodeText(bytes) !== own) expect(decodeText(bytes), hex(bytes)).toBe(own)
  }

  it('agrees on every code point and every two bytes', () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      // Surrogates are encoded too, as if they were characters.
      const wide = point >= 0x10000
      const bytes = wide
        ? [0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)]
        : [0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)]
      agree(Uint8Array.from([0x41, ...bytes, 0x42]))
      agree(Uint8Array.of(point & 0xff, (point >> 8) & 0xff))
    }
  })

  it('agrees on random bytes', () => {
    const edges = [0x00, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xa8, 0xae, 0xbb, 0xbf, 0xc0, 0xc1, 0xc2]
    const leads = [0xdf, 0xe0, 0xe1, 0xe2, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff, 0x81, 0xa6]
    const byte = fc.oneof(fc.constantFrom(...edges, ...leads), fc.nat(255))
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 12 }), (bytes) => agree(Uint8Array.from(bytes))),
      { numRuns: runs(20_000) },
    )
  })
})

/** Transactions of all kinds on a chain at genesis, malformed ones among them. */
async function corpus(): Promise<Uint8Array[]> {
  const records = genesisRecords(genesis, rules)
  for (const { address } of ACTORS) new Ledger(records).credit(address, 1n, true)
  const place = { genesisId: '11'.repeat(32), records, height: 1, baseFee: 32n, rules }
  const wires: Uint8Array[] = []
  const scenario = new Scenario(place)
  for (const op of fc.sample(opArbitrary, { numRuns: 300, seed: 1 })) wires.push(await scenario.make(op))
  for (const kind of ['register', 'update', 'publish', 'retire', 'receipt'] satisfies Op['kind'][])
    wires.push(await scenario.make({ kind, n: [1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1] }))
  for (const who of ACTORS.slice(8)) {
    wires.push(await scenario.sign(plain(who, 0n), who), await scenario.sign(plain(who, 1n), who))
    wires.push(
      ...badWitnesses(wires[wires.length - 1] as Uint8Array),
      ...badWitnesses(wires[wires.length - 2] as Uint8Array),
    )
  }
  const [who] = ACTORS
  if (who === undefined) throw new Error('no actor')
  const good = TRANSACTION.decode(await scenario.sign(plain(who, 1n), who))
  for (const [kind, payload] of [...BAD_PAYLOADS, ...GOOD_TAB_PAYLOADS])
    wires.push(transactionBytes(BODY.encode(plain(who, 1n, { kind, payload })), WITNESS.decode(good.witness)))
  return wires
}

type Edit = readonly [where: number, how: number, value: number]

/** Changes some bytes: sets a byte, flips a bit, adds or subtracts one, inserts, deletes, cuts, or appends. */
function edited(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let all = [...bytes]
  for (const [where, how, value] of edits) {
    // Half of the edits hit the first bytes, which hold the offsets.
    const at = how % 2 === 0 ? where % Math.min(all.length + 1, 96) : where % (all.length + 1)
    const old = all[at] ?? 0
    if (how < 2) all[at] = value
    else if (how < 4) all[at] = old ^ (1 << (value % 8))
    else if (how < 6) all[at] = (old + (value % 2 === 0 ? 1 : 255)) % 256
    else if (how < 8) all.splice(at, 0, value)
    else if (how < 10) all.splice(at, 1 + (value % 4))
    else if (how < 11) all = all.slice(0, at)
    else all.push(value)
  }
  return Uint8Array.from(all)
}

describe('transactions', () => {
  const agree = (wire: Uint8Array): boolean => {
    const decoded = decodeTransaction(wire)
    const node = decoded.ok && checkTransaction(decoded.value, rules.tx) === null
    const own = orRefused(() => {
      const tx = readTransaction(wire, rules.tx)
      checkForm(tx, rules.tx)
      if (tx.body.nonce === 0n) checkKeys(tx, new Map())
      return tx
    })
    if (node !== (own !== undefined)) expect(node, hex(wire)).toBe(own !== undefined)
    if (decoded.ok && own !== undefined)
      expect([decoded.value.txId, decoded.value.wtxId]).toEqual([hex(own.txid), hex(own.wtxid)])
    return node
  }

  it('agrees on what is malformed', async () => {
    const wires = await corpus()
    const good = wires.map(agree).filter((one) => one).length
    expect(good).toBeGreaterThan(60)
    const edit = fc.tuple(fc.nat(0xffff), fc.nat(11), fc.nat(255))
    let kept = 0
    fc.assert(
      fc.property(
        fc.nat(wires.length - 1),
        fc.nat(2),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        (index, part, edits) => {
          const wire = wires[index] as Uint8Array
          const { body, witness } = TRANSACTION.decode(wire)
          if (part === 0) return void agree(edited(wire, edits))
          const changed = BODY.decode(body)
          const payload = part === 2 ? edited(changed.payload, edits) : changed.payload
          const bytes = part === 2 ? BODY.encode({ ...changed, payload }) : edited(body, edits)
          if (agree(TRANSACTION.encode({ body: bytes, witness }))) kept++
        },
      ),
      { numRuns: runs(20_000) },
    )
    expect(kept).toBeGreaterThan(500)
  })
})
