import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { readModelsFile } from '../../../../../src/chat/backends/models-file.ts'
import { removeFolder, temporaryFolder } from '../../../../support/processes.ts'

const folder = temporaryFolder()
afterAll(() => removeFolder(folder))

const MODEL = { id: 'small', roles: ['fast', 'general'], context: 32_768 }
const BACKEND = { id: 'local', baseUrl: 'http://127.0.0.1:11434/v1', models: [MODEL] }

async function read(content: unknown) {
  const path = `${folder}/models.json`
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return readModelsFile(path)
}

const withBackend = (changes: object): object => ({ backends: [{ ...BACKEND, ...changes }] })
const withModel = (changes: object): object => withBackend({ models: [MODEL, { ...MODEL, ...changes }] })

describe('the file with the model backends', () => {
  it('is read with what it leaves out', async () => {
    expect(await read({ backends: [BACKEND] })).toEqual({
      ok: true,
      value: [
        {
          id: 'local',
          baseUrl: 'http://127.0.0.1:11434/v1',
          keyRef: null,
          models: [{ ...MODEL, supports: new Set(), declaredParameters: null }],
          limits: { rpm: null, tpm: null, concurrency: 4, priority: 0, timeoutMs: 60_000 },
        },
      ],
    })
  })

  it('is read as the documentation shows it', async () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync('docs/models.md', 'utf8')) ?? []
    const file = await read(example)
    if (!file.ok) throw new Error(JSON.stringify(file.fault))
    expect(file.value.map(({ id, keyRef }) => [id, keyRef])).toEqual([
      ['house', null],
      ['hosted', { variable: 'HOSTED_API_KEY' }],
    ])
    expect(file.value[1]?.limits).toMatchObject({ rpm: 60, tpm: 100_000, concurrency: 8, priority: 1 })
  })

  it('names the voices of a model that speaks', async () => {
    const speaker = { id: 'tts', roles: ['speech'], context: 4_096, voices: ['nova', 'de-1'] }
    const file = await read(withBackend({ models: [speaker] }))
    expect(file).toMatchObject({ ok: true, value: [{ models: [{ roles: ['speech'], voices: ['nova', 'de-1'] }] }] })
  })

  it.each([
    ['no voice', withModel({ voices: [] }), 'backends[0].models[1].voices: must be a list of 1 to 64'],
    [
      'a voice of blanks',
      withModel({ voices: ['a b'] }),
      'backends[0].models[1].voices[0]: must be at most 60 printable characters',
    ],
    ['not JSON', '{', 'it is not JSON (line 1, column 2)'],
    ['a comma too many', '{\n  "backends": [],\n}', 'it is not JSON (line 3, column 1)'],
    ['a word without quotes', '{\n  "backends": secret\n}', 'it is not JSON (line 2, column 15)'],
    ['a comment', '// mine\n{}', 'it is not JSON (line 1, column 1)'],
    ['half of it', '{\n  "backends": [', 'it is not JSON (line 2, column 16)'],
    ['nothing at all', '', 'it is not JSON (line 1, column 1)'],
    ['a list', [], 'it must be an object'],
    ['nothing', {}, '"backends" is missing'],
    ['something else', { backends: [], more: 1 }, 'there is no "more"; allowed: backends'],
    ['no backend', { backends: [] }, 'backends: must be a list of 1 to 32'],
    ['the same id twice', { backends: [BACKEND, BACKEND] }, 'backends: the id "local" is there twice'],
    ['a key written out', withBackend({ keyRef: 'sk-123' }), 'backends[0].keyRef: must be env:VARIABLE or model:NAME'],
    [
      'a wrong address',
      withBackend({ baseUrl: 'ftp://x' }),
      'backends[0].baseUrl: must be an http(s) URL without query',
    ],
    ['no rate', withBackend({ rpm: 0 }), 'backends[0].rpm: must be a whole number from 1 to 1000000'],
    [
      'too much at once',
      withBackend({ concurrency: 4_097 }),
      'backends[0].concurrency: must be a whole number from 1 to 4096',
    ],
    ['no model', withBackend({ models: [] }), 'backends[0].models: must be a list of 1 to 64'],
    [
      'a role that is none',
      withModel({ roles: ['poet'] }),
      'backends[0].models[1].roles[0]: must be one of fast, general, code, reason, vision, judge, translate, image, speech',
    ],
    [
      'something that none can',
      withModel({ supports: ['magic'] }),
      'backends[0].models[1].supports[0]: must be one of tools, jsonSchema, vision, streamUsage',
    ],
    [
      'no window',
      withModel({ context: '32k' }),
      'backends[0].models[1].context: must be a whole number from 256 to 16777216',
    ],
    [
      'a misspelt field',
      withModel({ contxt: 1 }),
      'backends[0].models[1]: there is no "contxt"; allowed: id, roles, context, supports, declaredParameters, voices',
    ],
  ])('is refused with the place in it: %s', async (_, content, reason) => {
    const path = `${folder}/models.json`
    expect(await read(content)).toEqual({ ok: false, fault: { code: 'config/file', detail: { path, reason } } })
  })

  it('is refused where it is not there', async () => {
    const path = `${folder}/missing.json`
    const detail = { path, reason: 'there is no such file' }
    expect(await readModelsFile(path)).toEqual({ ok: false, fault: { code: 'config/file', detail } })
    expect(await readModelsFile(folder)).toMatchObject({ fault: { detail: { reason: 'it is a folder' } } })
  })
})
