import { describe, expect, it } from 'vitest'
import { DESCRIPTION_BYTES_MAX } from '../../../../../consensus/tx/payloads.ts'
import { withScripts } from '../../../../../marketplace/services/documents/scripts.ts'
import { SERVICE_TABLE } from '../../../../../marketplace/services/table.ts'
import { formatRanges, rangesOf } from '../../../../../src/engines/documents/code-points.ts'
import { facesWith } from '../../../../../src/engines/documents/faces.ts'
import { scriptsOf } from '../../../../../src/engines/documents/scripts.ts'

const BUILT_IN = scriptsOf(facesWith([]))

function scriptsWith(letters: string): readonly string[] {
  const ranges = formatRanges(rangesOf([...letters].map((letter) => letter.codePointAt(0) as number)))
  return scriptsOf(facesWith([{ path: '/font.ttf', ranges }]))
}

describe('scripts of documents', () => {
  it('are those whose letters the fonts have, in one way of writing them', () => {
    expect(scriptsWith('这们说时东')).toEqual(['Latin', 'Greek', 'Cyrillic', 'Chinese', 'Armenian', 'Georgian'])
    expect(scriptsWith('這們說時東 가나한국힣')).toEqual([
      ...BUILT_IN.slice(0, 3),
      'Chinese',
      'Korean',
      ...BUILT_IN.slice(3),
    ])
    expect(scriptsWith('東')).toEqual(BUILT_IN)
  })

  for (const definition of SERVICE_TABLE.filter(({ serviceId }) =>
    /invoice|receipt-payment|credit|quote-e/.test(serviceId),
  ))
    it(`are in the description of ${definition.serviceId} as far as there is room`, () => {
      expect(withScripts(definition, BUILT_IN)).toEqual(definition)
      const all = [...BUILT_IN.slice(0, 3), 'Chinese', 'Japanese', 'Korean', 'Ethiopic', ...BUILT_IN.slice(3)]
      const { description } = withScripts(definition, all)
      expect(Buffer.byteLength(description)).toBeLessThanOrEqual(DESCRIPTION_BYTES_MAX)
      expect(description).toMatch(/ It prints Latin, Greek, Cyrillic, Chinese, Japanese, Korean\b.*\.$/)
    })

  it('are no matter of other services', () => {
    for (const definition of SERVICE_TABLE.filter(({ capability }) => capability !== 'reports'))
      expect(withScripts(definition, ['Latin'])).toBe(definition)
  })
})
