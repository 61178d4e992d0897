import type { Documents } from '../../marketplace/ports/documents.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import { openDocuments } from '../../src/engines/documents/document-desk.ts'
import { EnginePool } from '../../src/workers/engine-pool.ts'
import { outsideOf } from './outside.ts'

/** Result of a service that makes documents, as far as tests look at it. */
export interface MadeDocument {
  readonly asOf: string
  readonly issueDate: string
  readonly currency: string
  readonly netTotal: string
  readonly vatAmount: string
  readonly grossTotal: string
  readonly pages: number
  readonly pdf: { readonly bytes: number; readonly sha256: string; readonly base64: string }
}

/** The engine of documents, in an engine process of its own. */
export interface DocumentShop {
  readonly documents: Documents
  /** The context of a service call at that time. */
  readonly contextAt: (iso: string) => ServiceContext
  close(): Promise<void>
}

/** Opens a shop with one engine process. */
export async function documentShop(
  settings: { readonly currency?: string; readonly fonts?: readonly string[] } = {},
): Promise<DocumentShop> {
  const engines = new EnginePool(1)
  const documents = await openDocuments({ engines, currency: 'EUR', fonts: [], ...settings })
  if (!documents.ok) {
    await engines.close()
    throw new Error(JSON.stringify(documents.fault))
  }
  const outside = outsideOf({ engines, documents: documents.value })
  const contextAt = (iso: string): ServiceContext => {
    const parts: Partial<ServiceContext> = {
      clock: { now: () => Date.parse(iso) },
      outside,
      chain: { moving: false } as never,
    }
    return parts as ServiceContext
  }
  return { documents: documents.value, contextAt, close: () => engines.close() }
}

/** Bytes of the file in a result. */
export function fileOf({ pdf }: MadeDocument): Uint8Array {
  return Buffer.from(pdf.base64, 'base64')
}
