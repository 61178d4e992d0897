import { describe, expect, it } from 'vitest'
import { PEER_NOTE_BYTES_MAX, PEER_NOTES_MAX, PeerMemory } from '../../../../../src/p2p/host/lib-node.ts'

describe('what libp2p notes of peers', () => {
  it('is of so many peers, those that it asked for last', () => {
    const memory = new PeerMemory()
    memory.put('/peers/connected', Uint8Array.of(1))
    for (let i = 0; i < 10 * PEER_NOTES_MAX; i++) {
      memory.put(`/peers/${i}`, Uint8Array.of(2))
      if (i % 1_000 === 0) memory.get('/peers/connected')
    }
    expect(memory.get('/peers/connected')).toEqual(Uint8Array.of(1))
    expect(memory.get(`/peers/${9 * PEER_NOTES_MAX + 1}`)).toEqual(Uint8Array.of(2))
    expect(() => memory.get(`/peers/${9 * PEER_NOTES_MAX - 1}`)).toThrow(
      expect.objectContaining({ name: 'NotFoundError' }),
    )
  })

  it('is no longer than a peer needs', () => {
    const memory = new PeerMemory()
    memory.put('/peers/a', Uint8Array.of(1))
    memory.put('/peers/a', new Uint8Array(PEER_NOTE_BYTES_MAX + 1))
    expect(memory.get('/peers/a')).toEqual(Uint8Array.of(1))
    memory.delete('/peers/a')
    expect(() => memory.get('/peers/a')).toThrow(expect.objectContaining({ name: 'NotFoundError' }))
  })

  it('holds nothing but itself of the memory that it came in', () => {
    const memory = new PeerMemory()
    memory.put('/peers/a', new Uint8Array(65_536).subarray(100, 300))
    expect(memory.get('/peers/a').buffer.byteLength).toBe(200)
  })
})
