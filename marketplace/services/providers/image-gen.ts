import { type Static, Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { PICTURE_BYTES_MAX, PICTURE_SIDE, type SquarePng } from '../../ports/image-tasks.ts'
import type { Readiness } from '../../ports/readiness.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { unusable } from '../requests.ts'
import { defineService, type ServiceDefinition } from '../service.ts'

const ID = 'node-image-gen' as ServiceId
const PROMPT_CHARS = { min: 3, max: 1_000 }
const FORMAT = {
  requestFormat: `image description, ${PROMPT_CHARS.min}-${PROMPT_CHARS.max} characters`,
  example: 'A lighthouse at dusk, oil on canvas',
}
/** Base64 adds a third; the rest of the result needs some room. */
const RESULT_BYTES_MAX = Math.ceil((PICTURE_BYTES_MAX * 4) / 3) + 16_384
const PROCEDURAL_ENGINE = 'procedural'

const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  prompt: Type.String(),
  width: Type.Literal(PICTURE_SIDE),
  height: Type.Literal(PICTURE_SIDE),
  mime: Type.Literal('image/png'),
  bytes: Type.Integer({ minimum: 1, maximum: PICTURE_BYTES_MAX }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  base64: Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' }),
  /** The backend's name of the model; null if no model made the picture. */
  model: orNull(Type.String()),
  depictsPrompt: Type.Boolean(),
  unknown: UNKNOWN,
})

function parse(request: string): Result<string> {
  const prompt = request.trim()
  const { min, max } = PROMPT_CHARS
  if (prompt.length >= min && prompt.length <= max) return ok(prompt)
  return unusable(`the description must have ${min} to ${max} characters`, FORMAT)
}

function pictureFacts(prompt: string, { bytes, sha256 }: SquarePng) {
  const size = { width: PICTURE_SIDE, height: PICTURE_SIDE } as const
  return { prompt, ...size, mime: 'image/png' as const, bytes: bytes.length, sha256, base64: bytes.toBase64() }
}

async function depict(prompt: string, context: ServiceContext, signal: AbortSignal): Promise<Static<typeof RESULT>> {
  const { models, engines } = context.outside
  const { bytes, model, backend } = delivered(await models.picture(prompt, signal))
  const png = delivered(await engines.run('image/square-png', { bytes }, signal))
  return {
    ...engineEnvelope(ID, backend, context),
    ...pictureFacts(prompt, png),
    model,
    depictsPrompt: true,
    unknown: [],
  }
}

async function decorate(prompt: string, context: ServiceContext, signal: AbortSignal): Promise<Static<typeof RESULT>> {
  const png = delivered(await context.outside.engines.run('image/procedural', { seed: prompt }, signal))
  return {
    ...engineEnvelope(ID, PROCEDURAL_ENGINE, context),
    ...pictureFacts(prompt, png),
    model: null,
    depictsPrompt: false,
    unknown: ['model'],
  }
}

const SAMPLE = {
  service: ID as string,
  asOf: '2026-11-20T12:00:00.000Z',
  engine: 'house',
  prompt: FORMAT.example,
  width: PICTURE_SIDE,
  height: PICTURE_SIDE,
  mime: 'image/png',
  bytes: 1_423_771,
  sha256: '7d1f0c5be2a94c6830f1d2e3b4a5968778695a4b3c2d1e0f9f8e7d6c5b4a3921',
  base64: 'iVBORw0KGgo=',
  model: 'example-diffusion',
  depictsPrompt: true,
  unknown: [] as string[],
}

const COMMON = {
  serviceId: ID,
  capability: 'compute',
  priceUsdMicros: 20_000n,
  ...FORMAT,
  resultBytesMax: RESULT_BYTES_MAX,
  repeatable: true,
  requestCharsMax: PROMPT_CHARS.max + 100,
  parse,
  resultSchema: RESULT,
} as const

/** The in-process text model cannot make pictures, so other settings help here than for texts. */
function withWaysOut(readiness: Readiness): Readiness {
  if (readiness.available || !readiness.requires.includes('models.gguf')) return readiness
  return { ...readiness, requires: ['models.file', 'models.procedural-images'] }
}

/** A picture of what a prompt says, by an image model. */
export const imageGen: ServiceDefinition = defineService<string, typeof RESULT>({
  ...COMMON,
  name: 'Image generation',
  description:
    'A picture of what the prompt describes, by an image model: PNG of 1024x1024 pixels as base64, without metadata, with its SHA-256 and the model as its backend names it. A refused prompt is refunded.',
  brief: 'Makes a picture of what a prompt describes, as PNG of 1024x1024 pixels.',
  words: 'draw image picture illustration art artwork photo paint create drawing logo',
  sample: SAMPLE,
  timeoutMs: 60_000,
  reachesOut: true,
  ready: ({ outside }) => withWaysOut(outside.models.readiness('image')),
  execute: depict,
})

/** Artwork computed from the prompt without a model; sold if the operator chose it. */
export const proceduralImageGen: ServiceDefinition = defineService<string, typeof RESULT>({
  ...COMMON,
  name: 'Abstract artwork',
  description:
    'Deterministic abstract artwork seeded by the prompt; it does not depict the prompt, and no image model is involved. PNG of 1024x1024 pixels as base64, the same for the same prompt, with its SHA-256.',
  brief: 'Makes abstract artwork that its prompt seeds, as PNG; it does not show what the prompt says.',
  words: 'image picture art pattern generate',
  sample: { ...SAMPLE, engine: PROCEDURAL_ENGINE, model: null, depictsPrompt: false, unknown: ['model'] },
  timeoutMs: 15_000,
  ready: () => ({ available: true, engine: PROCEDURAL_ENGINE }),
  execute: decorate,
})
