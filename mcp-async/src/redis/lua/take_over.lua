-- Begins an epoch of a session and keeps it as long as if it was saved. KEYS: session.
local record = redis.call('HGET', KEYS[1], 'r')
if not record then return false end
redis.call('PEXPIRE', KEYS[1], redis.call('HGET', KEYS[1], 'k'))
return { record, redis.call('HINCRBY', KEYS[1], 'e', 1) }
