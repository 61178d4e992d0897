import { describe, expect, it } from 'vitest'
import { type Fault, fault, faultMessage, faultRow } from '../../../../consensus/primitives/fault.ts'
import { FAULT_TABLE, type FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import { faultCalls } from '../../../support/fault-calls.ts'

const CODES = Object.keys(FAULT_TABLE) as FaultCode[]

/** Names in braces in a fault's sentence. */
function placeholders(code: FaultCode): string[] {
  return [...FAULT_TABLE[code].says.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

describe('the table of faults', () => {
  it('has a code of area and matter for each, and never both blames the sender and invites a retry', () => {
    const odd = CODES.filter((code) => {
      const { blame, retry } = faultRow(code)
      return !/^[a-z][a-z0-9]*\/[a-z0-9]+(-[a-z0-9]+)*$/.test(code) || (blame === 'sender' && retry)
    })
    expect(odd).toEqual([])
  })

  it('has one sentence for each, without a broken brace', () => {
    const odd = CODES.filter((code) => {
      const { says } = FAULT_TABLE[code]
      return says.trim() !== says || says === '' || /[{}]/.test(says.replaceAll(/\{\w+\}/g, ''))
    })
    expect(odd).toEqual([])
  })
})

describe('a fault', () => {
  it('carries its code and its facts, none if there are none', () => {
    expect(fault('tx/version', { version: 7 })).toEqual({ code: 'tx/version', detail: { version: 7 } })
    expect(fault('chain/stopped')).toEqual({ code: 'chain/stopped', detail: {} })
  })

  it('is frozen, as it says', () => {
    expect(Object.isFrozen(fault('chain/stopped').detail)).toBe(true)
    expect(Object.isFrozen(fault('chain/stopped'))).toBe(true)
    expect(Object.isFrozen(fault('tx/version', { version: 7 }))).toBe(true)
  })

  it('says one sentence with its facts filled in', () => {
    expect(faultMessage(fault('tx/version', { version: 7 }))).toBe('unknown transaction version 7')
    expect(faultMessage(fault('amount/too-many-decimals', { text: '0.123', decimals: 2 }))).toBe(
      '"0.123" has more than 2 decimals',
    )
    expect(faultMessage(fault('tx/keys-misplaced'))).toBe(
      'the witness carries the public keys if and only if the nonce is 0',
    )
  })

  it('shows false, 0 and the empty text, joins lists, and marks a missing fact', () => {
    const says = (version: Fault['detail'][string]) => faultMessage(fault('tx/version', { version }))
    expect(says(0)).toBe('unknown transaction version 0')
    expect(says(false)).toBe('unknown transaction version false')
    expect(says('')).toBe('unknown transaction version ')
    expect(says(['a', 'b'])).toBe('unknown transaction version a, b')
    expect(says([])).toBe('unknown transaction version ')
    expect(says(null)).toBe('unknown transaction version ?')
    expect(faultMessage(fault('tx/version'))).toBe('unknown transaction version ?')
  })

  it('fills a fact in as it is, whatever a stranger wrote into it', () => {
    const text = '{decimals} $& $1 {text} </b>\u0000'
    expect(faultMessage(fault('amount/too-many-decimals', { text, decimals: 2 }))).toBe(
      `"${text}" has more than 2 decimals`,
    )
  })
})

describe('the places that make faults', () => {
  const calls = faultCalls()
  const byCode = new Map<string, { readonly at: string; readonly facts: readonly string[] }[]>()
  for (const { at, codes, facts } of calls) {
    for (const code of codes) if (facts !== undefined) byCode.set(code, [...(byCode.get(code) ?? []), { at, facts }])
  }

  it('are found', () => {
    expect(calls.length).toBeGreaterThan(60)
  })

  it('use codes of the table', () => {
    expect([...byCode.keys()].filter((code) => !(code in FAULT_TABLE))).toEqual([])
  })

  it('give every fact that the sentence of their code names', () => {
    const missing = [...byCode].flatMap(([code, places]) =>
      places.flatMap(({ at, facts }) =>
        placeholders(code as FaultCode)
          .filter((name) => !facts.includes(name))
          .map((name) => `${at}: ${code} says {${name}}`),
      ),
    )
    expect(missing).toEqual([])
  })
})
