-- The epoch of a session, its owner and the number of the owner's lease. KEYS: session.
local epoch, process, number = unpack(redis.call('HMGET', KEYS[1], 'e', 'p', 'n'))
if not epoch then return false end
return { epoch, process or '', number or '' }
