-- Begins an epoch of the events of a session. KEYS: removed, meta. ARGV: epoch, time to keep it.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'gone' end
local epoch = redis.call('HGET', KEYS[2], 'e')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then return 'conflict' end
redis.call('HSET', KEYS[2], 'e', ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return tonumber(redis.call('HGET', KEYS[2], 'l0') or 0)
