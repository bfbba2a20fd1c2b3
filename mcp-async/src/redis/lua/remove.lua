-- Removes a session and its events, and refuses later ones. KEYS: removed, session, meta, events, order.
-- ARGV: time to remember it.
local keep = redis.call('HGET', KEYS[2], 'k')
if not keep or tonumber(keep) < tonumber(ARGV[1]) then keep = ARGV[1] end
redis.call('SET', KEYS[1], '', 'PX', keep)
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
return 'ok'
