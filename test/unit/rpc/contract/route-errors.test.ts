import { describe, expect, it } from 'vitest'
import { httpFault } from '../../../../rpc/contract/http-faults.ts'
import type { Route } from '../../../../rpc/contract/route.ts'
import { BEFORE_ANY_ROUTE, errorCodesOf, errorsOf, SHARED_ERRORS } from '../../../../rpc/contract/route-errors.ts'
import { ROUTES } from '../../../../rpc/contract/table.ts'

const routes = Object.values(ROUTES) as readonly Route[]

describe('the errors of a route', () => {
  it.each(routes)('$operationId lists none twice, and none that its kind has', (route) => {
    const { errors = [] } = route
    const shared = SHARED_ERRORS.filter(({ has }) => has(route)).flatMap(({ codes }) => codes)
    expect(new Set([...errors, ...shared]).size).toBe(errors.length + shared.length)
    expect(errorsOf(route)).toHaveLength(errors.length + shared.length)
    expect(errors.filter((code) => BEFORE_ANY_ROUTE.includes(code))).toEqual([])
    // A success is no error.
    expect(errorsOf(route).filter((code) => httpFault(code).status < 400)).toEqual([])
  })

  it('are told by status in API codes', () => {
    expect([...errorCodesOf(ROUTES.getBlock)]).toEqual([
      [400, ['invalid_request']],
      [404, ['block_not_found']],
      [410, ['pruned']],
      [429, ['rate_limited', 'too_many_at_once']],
      [500, ['internal_error']],
      [503, ['node_busy']],
    ])
    expect(errorCodesOf(ROUTES.call).get(402)).toContain('payment_required')
    expect(errorCodesOf(ROUTES.createSpeech).get(429)).toEqual(['rate_limit_exceeded'])
  })
})
