-- Forgets a task. KEYS: task, expiring tasks. ARGV: id.
local process, owner = unpack(redis.call('HMGET', KEYS[1], 'b', 'o'))
if process then redis.call('SREM', process, ARGV[1]) end
if owner then redis.call('ZREM', owner, ARGV[1]) end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1])
return 1
