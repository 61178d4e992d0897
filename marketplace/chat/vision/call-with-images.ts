import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatCall } from '../call.ts'
import type { ChatMeans } from '../stage.ts'
import { hasImages, imagePartsOf, someoneSees } from './image-parts.ts'
import { type ImageMeans, prepareImages } from './prepare-images.ts'

/**
 * A call without images passes unchanged. Faults: `chat/unsupported` for models other than model-4, `chat/no-backend`
 * if no model supports images, and those of {@link prepareImages}.
 */
export async function callWithImages(
  call: ChatCall,
  means: Pick<ChatMeans, 'models'> & Omit<ImageMeans, 'who' | 'count'>,
  signal: AbortSignal,
): Promise<Result<ChatCall>> {
  if (!hasImages(call.messages)) return ok(call)
  const { model } = call
  if (model !== 'model-4') {
    const param = imagePartsOf(call.messages)[0]?.param ?? 'messages'
    return fail(fault('chat/unsupported', { param, reason: 'images are for model-4' }))
  }
  if (!someoneSees(means.models)) {
    const reason = 'no model that sees images is configured'
    return fail(fault('chat/no-backend', { model, reason, requires: ['models.file'] }))
  }
  const messages = await prepareImages(call.messages, { ...means, who: call.who ?? '', count: call.count }, signal)
  return messages.ok ? ok({ ...call, messages: messages.value }) : messages
}
