-- Forgets a session and its events, also in a store that is full. KEYS: session.
redis.call('DEL', KEYS[1])
return 'ok'
