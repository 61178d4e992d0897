import { expect, it } from 'vitest'
import type { ProviderFacts } from '../../../../src/adapters/providers/provider.ts'
import { ProviderLog } from '../../../../src/telemetry/provider-log.ts'

it('tells once of a provider that fails or cannot be asked, and once when it can again', () => {
  let facts: readonly ProviderFacts[] = []
  const lines: unknown[] = []
  const line = (level: string) => (told: object, message: string) => void lines.push([level, told, message])
  const log = new ProviderLog(
    [
      {
        get facts() {
          return facts
        },
      },
    ],
    { warn: line('warn'), info: line('info') },
  )
  const look = (usable: boolean, trouble: string | null): readonly unknown[] => {
    facts = [
      { what: 'models', name: 'house', usable, trouble },
      { what: 'rates', name: 'house', usable: true, trouble: null },
    ]
    lines.length = 0
    log.look()
    return [...lines]
  }
  const who = { what: 'models', provider: 'house' }
  const failing = ['warn', { ...who, reason: 'status 503' }, 'a provider failed']
  const ill = ['warn', { ...who, reason: 'status 503' }, 'a provider cannot be asked']
  const well = ['info', who, 'a provider can be asked again']
  expect(look(true, null)).toEqual([])
  expect(look(true, 'status 503')).toEqual([failing])
  expect(look(true, 'status 503')).toEqual([])
  expect(look(false, 'status 503')).toEqual([ill])
  expect(look(false, 'status 502')).toEqual([])
  // Its pause is over, but it was not asked again.
  expect(look(true, 'status 503')).toEqual([])
  expect(look(false, 'status 503')).toEqual([])
  expect(look(true, null)).toEqual([well])
  expect(look(true, null)).toEqual([])
  expect(look(false, 'status 503')).toEqual([ill])
})
