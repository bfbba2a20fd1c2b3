-- Forgets a task, and returns its boot and its owner. KEYS: task.
local boot, owner = unpack(redis.call('HMGET', KEYS[1], 'b', 'o'))
redis.call('DEL', KEYS[1])
return { boot or '', owner }
