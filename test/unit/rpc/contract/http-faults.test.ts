import { describe, expect, it } from 'vitest'
import { FAULT_TABLE, type FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import { httpFault } from '../../../../rpc/contract/http-faults.ts'

const CODES = Object.keys(FAULT_TABLE) as FaultCode[]

describe('faults over HTTP', () => {
  it('have a machine code and a status each', () => {
    const odd = CODES.filter((code) => {
      const { api, status } = httpFault(code)
      return !/^[a-z]+(_[a-z0-9]+)*$/.test(api) || status < 200 || status > 599 || !Number.isInteger(status)
    })
    expect(odd).toEqual([])
  })

  it('never blame the sender for a failure of the server', () => {
    expect(CODES.filter((code) => httpFault(code).blame === 'sender' && httpFault(code).status >= 500)).toEqual([])
  })

  it('say blame, retry and sentence as the table of faults does', () => {
    for (const code of CODES) expect(httpFault(code)).toMatchObject(FAULT_TABLE[code])
  })
})
