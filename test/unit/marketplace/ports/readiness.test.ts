import { describe, expect, it } from 'vitest'
import { troubleOf } from '../../../../marketplace/ports/readiness.ts'

describe('a trouble', () => {
  it('names whose it is, once', () => {
    expect(troubleOf('ecb', 'ecb cannot be reached: ENOTFOUND')).toBe('ecb cannot be reached: ENOTFOUND')
    expect(troubleOf('ecb', 'ecbx is down')).toBe('ecb: ecbx is down')
    expect(troubleOf('ecb', null)).toBe('ecb: not checked yet')
  })
})
